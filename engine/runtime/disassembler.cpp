// Decodes each function once. The targets of its jumps are collected before it is printed.
//
// A thread keeps LLVM's tables for a processor, and the text of each instruction that jumps nowhere by its bytes: kernels
// repeat most of them.
#ifdef UOPSCOPE_HAVE_LLVM
#include "engine/runtime/disassembler.h"

#include <fmt/format.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrAnalysis.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/TargetParser/Triple.h>

#include <functional>
#include <map>
#include <unordered_map>

namespace uopscope {

namespace {

struct Decoded {
  uint64_t at = 0, length = 0;
  bool valid = false;
  llvm::MCInst inst;
};

/// The decoder and the printer for one processor.
class Disassembler {
public:
  Disassembler(const llvm::Target& target, const std::string& triple, const std::string& cpu,
               const std::string& features)
      : triple_(triple), registers_(target.createMCRegInfo(triple)),
        syntax_(target.createMCAsmInfo(*registers_, triple, llvm::MCTargetOptions())),
        subtarget_(target.createMCSubtargetInfo(triple, cpu, features)),
        instructions_(target.createMCInstrInfo()),
        analysis_(target.createMCInstrAnalysis(instructions_.get())),
        context_(triple_, syntax_.get(), registers_.get(), subtarget_.get()),
        decoder_(target.createMCDisassembler(*subtarget_, context_)),
        printer_(target.createMCInstPrinter(triple_, triple_.isX86() ? 1 : 0, *syntax_, *instructions_,
                                            *registers_)) {
    if (printer_) printer_->setPrintBranchImmAsAddress(true);
  }

  bool works() const { return decoder_ && printer_; }

  std::vector<Decoded> decode(llvm::ArrayRef<uint8_t> bytes) const {
    std::vector<Decoded> decoded;
    decoded.reserve(bytes.size() / 4);
    for (uint64_t at = 0; at < bytes.size();) {
      Decoded& d = decoded.emplace_back();
      d.at = at;
      d.valid = decoder_->getInstruction(d.inst, d.length, bytes.slice(at), at, llvm::nulls()) ==
                llvm::MCDisassembler::Success;
      at += d.length ? d.length : 1;
    }
    return decoded;
  }

  /// Where the instruction jumps to, within a function of `size` bytes.
  std::optional<uint64_t> targetOf(const Decoded& d, uint64_t size) const {
    uint64_t to = 0;
    if (!d.valid || !analysis_ || !analysis_->isBranch(d.inst) ||
        !analysis_->evaluateBranch(d.inst, d.at, d.length, to) || to >= size)
      return {};
    return to;
  }

  /// The text of a valid instruction; it holds until the next call.
  const std::string& print(const Decoded& d, llvm::ArrayRef<uint8_t> bytes) {
    constexpr size_t kMost = 20'000;
    // The address of a jump or a call depends on the place.
    if (analysis_ && (analysis_->isBranch(d.inst) || analysis_->isCall(d.inst))) return printed(d);
    const std::string_view code(reinterpret_cast<const char*>(bytes.data()) + d.at, d.length);
    if (auto it = known_.find(code); it != known_.end()) return it->second;
    if (known_.size() >= kMost) known_.clear();
    return known_.emplace(std::string(code), printed(d)).first->second;
  }

private:
  const std::string& printed(const Decoded& d) {
    text_.clear();
    llvm::raw_string_ostream stream(text_);
    stream.SetBufferSize(256); // the printer writes an operand in pieces of a few letters
    printer_->printInst(&d.inst, d.at, "", *subtarget_, stream);
    stream.flush();
    return text_;
  }

  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  llvm::Triple triple_;
  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> syntax_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis_;
  llvm::MCContext context_;
  std::unique_ptr<llvm::MCDisassembler> decoder_;
  std::unique_ptr<llvm::MCInstPrinter> printer_;
  std::string text_;
  std::unordered_map<std::string, std::string, Hash, std::equal_to<>>
      known_; ///< bytes of an instruction -> text
};

/// This thread's tables for the processor; null if LLVM has none. They hold nothing that a caller could see.
Disassembler* disassemblerFor(const std::string& triple, const std::string& cpu,
                              const std::string& features) {
  struct Kept {
    std::string triple, cpu, features;
    std::unique_ptr<Disassembler> made;
  };
  static thread_local Kept kept;
  if (kept.made && kept.triple == triple && kept.cpu == cpu && kept.features == features)
    return kept.made.get();
  std::string message;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target) return nullptr;
  kept = {triple, cpu, features, std::make_unique<Disassembler>(*target, triple, cpu, features)};
  return kept.made->works() ? kept.made.get() : nullptr;
}

/// The lines of the source that an object was compiled from. Asked for every instruction, DWARFContext itself would look up
/// the unit and the names of files each time.
class LineTables {
public:
  /// Null: no lines.
  explicit LineTables(const llvm::object::ObjectFile* object) {
    if (!object) return;
    debug_ = llvm::DWARFContext::create(*object);
    for (const auto& unit : debug_->compile_units())
      if (const auto* table = debug_->getLineTableForUnit(unit.get())) tables_.push_back(table);
  }
  /// 0 if it is not known.
  uint32_t lineOf(llvm::object::SectionedAddress address) const {
    for (const llvm::DWARFDebugLine::LineTable* table : tables_)
      if (const uint32_t row = table->lookupAddress(address); row != table->UnknownRowIndex)
        return table->Rows[row].Line;
    return 0;
  }

private:
  std::unique_ptr<llvm::DWARFContext> debug_;
  std::vector<const llvm::DWARFDebugLine::LineTable*> tables_;
};

/// The text of functions, line by line.
struct Listing {
  std::string text;
  uint32_t lines = 0;

  void print(std::string_view line) {
    text.append(line) += '\n';
    ++lines;
  }
  /// Calls `printed` with the place of each instruction after its line.
  void function(Disassembler& machine, std::string_view name, llvm::ArrayRef<uint8_t> bytes,
                const std::function<void(uint64_t)>& printed) {
    const std::vector<Decoded> decoded = machine.decode(bytes);
    std::map<uint64_t, int> labels;
    for (const Decoded& d : decoded)
      if (auto to = machine.targetOf(d, bytes.size())) labels[*to] = 0;
    int number = 0;
    for (auto& [at, label] : labels) label = number++;
    print(fmt::format("{}:", name));
    auto label = labels.begin();
    for (const Decoded& d : decoded) {
      while (label != labels.end() && label->first < d.at) ++label; // a jump into an instruction
      if (label != labels.end() && label->first == d.at) print(fmt::format(".L{}:", label->second));
      if (!d.valid) {
        print(fmt::format("\t.byte {:#04x}", bytes[d.at]));
        continue;
      }
      const std::string& instruction = machine.print(d, bytes);
      const auto to = machine.targetOf(d, bytes.size());
      const size_t operand = to ? instruction.find_last_of(" \t") : std::string::npos;
      print(operand == std::string::npos
                ? instruction
                : fmt::format("{}.L{}", std::string_view(instruction).substr(0, operand + 1), labels[*to]));
      printed(d.at);
    }
  }
};

} // namespace

std::string disassembleObject(std::string_view object, const std::string& triple, const std::string& cpu,
                              const std::string& features, std::vector<AssemblyLine>* lines) {
  Disassembler* machine = disassemblerFor(triple, cpu, features);
  auto file = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(llvm::StringRef(object.data(), object.size()), "kernel"));
  if (!file || !machine) {
    llvm::consumeError(file.takeError());
    return {};
  }
  const LineTables source(lines ? file->get() : nullptr);
  Listing listing;
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    auto kind = symbol.getType();
    auto name = symbol.getName();
    auto section = symbol.getSection();
    auto address = symbol.getAddress();
    // A symbol that cannot be read is the last: a made table may claim 2^60 of them.
    if (!kind || !name || !section || !address) {
      llvm::consumeError(kind.takeError());
      llvm::consumeError(name.takeError());
      llvm::consumeError(section.takeError());
      llvm::consumeError(address.takeError());
      break;
    }
    if (*kind != llvm::object::SymbolRef::ST_Function || *name == "uopscope_entry" ||
        *section == (*file)->section_end())
      continue;
    auto contents = (*section)->getContents();
    if (!contents) {
      llvm::consumeError(contents.takeError());
      continue;
    }
    // The object may come from anywhere: what it says of a function may lie outside of its section.
    const uint64_t start = *address - (*section)->getAddress(),
                   size = llvm::object::ELFSymbolRef(symbol).getSize();
    if (start > contents->size() || size > contents->size() - start) continue;
    llvm::ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t*>(contents->data()) + start, size);
    listing.function(*machine, std::string_view(name->data(), name->size()), bytes, [&](uint64_t at) {
      if (const uint32_t from = source.lineOf({*address + at, (*section)->getIndex()}))
        lines->push_back({listing.lines, from});
    });
  }
  return std::move(listing.text);
}

std::string disassembleCode(std::string_view code, const std::string& name, const std::string& triple,
                            const std::string& cpu) {
  Disassembler* machine = disassemblerFor(triple, cpu, "");
  if (!machine) return {};
  Listing listing;
  listing.function(*machine, name, {reinterpret_cast<const uint8_t*>(code.data()), code.size()},
                   [](uint64_t) {});
  return std::move(listing.text);
}

} // namespace uopscope
#endif
