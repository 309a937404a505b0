// Decodes each function once. The targets of its jumps are collected before it is printed.
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

#include <map>

namespace uopscope {

std::string disassembleObject(std::string_view object, const std::string& triple, const std::string& cpu,
                              const std::string& features, std::vector<AssemblyLine>* lines) {
  std::string message;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target) return {};
  std::unique_ptr<llvm::MCRegisterInfo> registers(target->createMCRegInfo(triple));
  std::unique_ptr<llvm::MCAsmInfo> syntax(
      target->createMCAsmInfo(*registers, triple, llvm::MCTargetOptions()));
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(target->createMCSubtargetInfo(triple, cpu, features));
  std::unique_ptr<llvm::MCInstrInfo> instructions(target->createMCInstrInfo());
  std::unique_ptr<llvm::MCInstrAnalysis> analysis(target->createMCInstrAnalysis(instructions.get()));
  llvm::MCContext context(llvm::Triple(triple), syntax.get(), registers.get(), subtarget.get());
  std::unique_ptr<llvm::MCDisassembler> decoder(target->createMCDisassembler(*subtarget, context));
  bool intel = llvm::Triple(triple).isX86();
  std::unique_ptr<llvm::MCInstPrinter> printer(
      target->createMCInstPrinter(llvm::Triple(triple), intel ? 1 : 0, *syntax, *instructions, *registers));
  auto file = llvm::object::ObjectFile::createObjectFile(
      llvm::MemoryBufferRef(llvm::StringRef(object.data(), object.size()), "kernel"));
  if (!file || !decoder || !printer) {
    llvm::consumeError(file.takeError());
    return {};
  }
  printer->setPrintBranchImmAsAddress(true);

  std::unique_ptr<llvm::DWARFContext> debug;
  if (lines) debug = llvm::DWARFContext::create(**file);
  std::string out;
  uint32_t line = 0;
  auto print = [&](const std::string& text) {
    out += text + '\n';
    ++line;
  };
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    auto kind = symbol.getType();
    auto name = symbol.getName();
    auto section = symbol.getSection();
    auto address = symbol.getAddress();
    if (!kind || !name || !section || !address || *kind != llvm::object::SymbolRef::ST_Function ||
        *name == "uopscope_entry" || *section == (*file)->section_end())
      continue;
    auto contents = (*section)->getContents();
    if (!contents) continue;
    uint64_t start = *address - (*section)->getAddress(), size = llvm::object::ELFSymbolRef(symbol).getSize();
    llvm::ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t*>(contents->data()) + start, size);

    struct Decoded {
      uint64_t at = 0, length = 0;
      bool valid = false;
      llvm::MCInst inst;
    };
    std::vector<Decoded> decoded;
    decoded.reserve(bytes.size() / 4);
    for (uint64_t at = 0; at < bytes.size();) {
      Decoded& d = decoded.emplace_back();
      d.at = at;
      d.valid = decoder->getInstruction(d.inst, d.length, bytes.slice(at), at, llvm::nulls()) ==
                llvm::MCDisassembler::Success;
      at += d.length ? d.length : 1;
    }
    std::map<uint64_t, int> labels;
    auto targetOf = [&](const llvm::MCInst& inst, uint64_t at, uint64_t length) -> std::optional<uint64_t> {
      uint64_t to = 0;
      if (!analysis || !analysis->isBranch(inst) || !analysis->evaluateBranch(inst, at, length, to) ||
          to >= bytes.size())
        return {};
      return to;
    };
    for (const Decoded& d : decoded)
      if (auto to = d.valid ? targetOf(d.inst, d.at, d.length) : std::nullopt) labels[*to] = 0;
    int number = 0;
    for (auto& [at, label] : labels) label = number++;
    print(fmt::format("{}:", std::string_view(name->data(), name->size())));
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream.SetBufferSize(256); // the printer writes an operand in pieces of a few letters
    for (const Decoded& d : decoded) {
      if (auto it = labels.find(d.at); it != labels.end()) print(fmt::format(".L{}:", it->second));
      if (!d.valid) {
        print(fmt::format("\t.byte {:#04x}", bytes[d.at]));
        continue;
      }
      text.clear();
      printer->printInst(&d.inst, d.at, "", *subtarget, stream);
      stream.flush();
      if (auto to = targetOf(d.inst, d.at, d.length)) {
        size_t operand = text.find_last_of(" \t");
        if (operand != std::string::npos)
          text = fmt::format("{}.L{}", text.substr(0, operand + 1), labels[*to]);
      }
      print(text);
      if (!debug) continue;
      llvm::DILineInfo from = debug->getLineInfoForAddress({*address + d.at, (*section)->getIndex()});
      if (from.Line) lines->push_back({line, from.Line});
    }
  }
  return out;
}

} // namespace uopscope
#endif
