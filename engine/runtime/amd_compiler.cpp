// LLVM's AMDGPU target, the notes of its objects, and lld.
#include "engine/runtime/amd_compiler.h"

#include "engine/base/child_process.h"
#include "engine/base/error.h"
#include "engine/runtime/disassembler.h"
#include "engine/runtime/disk_cache.h"
#include "engine/runtime/kernel_report.h"
#include "engine/runtime/llvm_lines.h"
#include "engine/runtime/llvm_pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#ifdef UOPSCOPE_HAVE_LLVM
#include <llvm/BinaryFormat/MsgPackDocument.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>

#include <mutex>
#endif

namespace uopscope::amd {

namespace {

constexpr const char* kTriple = "amdgcn-amd-amdhsa";

class Listing : public Program {
public:
  explicit Listing(Binary binary) : binary_(std::move(binary)) {}
  double launch(std::span<void* const>, std::span<const int64_t>, std::span<const int64_t>,
                std::span<const int64_t>, bool) override {
    return -1;
  }
  std::string assembly() const override { return listing(binary_, nullptr); }
  std::string assemblyWithLines(std::vector<AssemblyLine>& lines) const override {
    return listing(binary_, &lines);
  }

private:
  Binary binary_;
};

/// A folder of ROCm, in which a program or a library may lie.
std::string rocm(const char* part) {
  const char* named = std::getenv("ROCM_PATH");
  return (named && *named ? named : "/opt/rocm") + std::string(part);
}

std::string linker() {
  for (const char* name : {"ld.lld-19", "ld.lld"})
    if (std::string found = findProgram(name, "/usr/lib/llvm-19/bin:" + rocm("/llvm/bin")); !found.empty())
      return found;
  throw Error(ErrorKind::Device,
              "there is no linker of AMD's code objects: ld.lld is missing. Install the Debian "
              "package lld-19, or ROCm; ROCM_PATH names a ROCm elsewhere than in /opt/rocm");
}

} // namespace

#ifdef UOPSCOPE_HAVE_LLVM

namespace {

/// The version of code objects that every driver since ROCm 4.1 loads.
constexpr unsigned kCodeObjectVersion = 400;

void initialise() {
  static std::once_flag done;
  std::call_once(done, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUDisassembler();
  });
}

std::unique_ptr<llvm::TargetMachine> machineFor(const std::string& architecture) {
  initialise();
  std::string message;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, message);
  if (!target) throw Error(ErrorKind::Device, "LLVM was built without GPUs of AMD: " + message);
  const std::unique_ptr<llvm::MCSubtargetInfo> known(target->createMCSubtargetInfo(kTriple, "", ""));
  if (!known || !known->isCPUStringValid(architecture))
    throw Error(ErrorKind::Value,
                fmt::format("LLVM {} knows no GPU of AMD called \"{}\"; there are gfx90a, gfx942, "
                            "gfx1100 and others",
                            LLVM_VERSION_STRING, architecture));
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(kTriple, architecture, "", llvm::TargetOptions(), llvm::Reloc::PIC_));
}

/// Keeps errors of code generation, for which LLVM would end the process.
class Diagnostics : public llvm::DiagnosticHandler {
public:
  explicit Diagnostics(std::string& message, unsigned& line) : message_(message), line_(line) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error || !message_.empty()) return true;
    llvm::raw_string_ostream out(message_);
    llvm::DiagnosticPrinterRawOStream printer(out);
    info.print(printer);
    if (const auto* unsupported = llvm::dyn_cast<llvm::DiagnosticInfoUnsupported>(&info)) note(*unsupported);
    if (const auto* limit = llvm::dyn_cast<llvm::DiagnosticInfoResourceLimit>(&info)) note(*limit);
    return true;
  }

private:
  void note(const llvm::DiagnosticInfoWithLocationBase& placed) {
    if (!placed.isLocationAvailable()) return;
    unsigned column = 0;
    llvm::StringRef file;
    placed.getLocation(file, line_, column);
  }

  std::string& message_;
  unsigned& line_;
};

std::string objectOf(const std::string& kernel, const std::string& source, const std::string& architecture) {
  std::string message;
  unsigned line = 0;
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<Diagnostics>(message, line));
  auto machine = machineFor(architecture);
  auto module = parseKernel(context, kernel, source);
  module->setDataLayout(machine->createDataLayout());
  module->addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", kCodeObjectVersion);
  for (llvm::Function& f : *module)
    if (!f.isDeclaration()) attachLines(*module, f.getName().str(), source);
  // It finds which numbers and arguments a kernel does not read, so that none are loaded.
  runLlvmPasses(*module, *machine, {}, "amdgpu-attributor");
  std::string object = objectCode(*module, *machine);
  if (!message.empty())
    throw Error(ErrorKind::Compile,
                fmt::format("kernel {}: LLVM does not compile it for {}\n{}\n{}source:\n{}", kernel,
                            architecture, message, sourceLine(source, line), source));
  return object;
}

int64_t numberIn(llvm::msgpack::MapDocNode& map, llvm::StringRef key) {
  auto found = map.find(key);
  if (found == map.end()) return 0;
  const llvm::msgpack::DocNode& node = found->second;
  return node.getKind() == llvm::msgpack::Type::UInt  ? static_cast<int64_t>(node.getUInt())
         : node.getKind() == llvm::msgpack::Type::Int ? node.getInt()
                                                      : 0;
}

Resources read(llvm::msgpack::MapDocNode& kernel) {
  Resources r;
  r.vectorRegisters = numberIn(kernel, ".vgpr_count");
  r.scalarRegisters = numberIn(kernel, ".sgpr_count");
  r.spilledRegisters = numberIn(kernel, ".vgpr_spill_count") + numberIn(kernel, ".sgpr_spill_count");
  r.scratchBytes = numberIn(kernel, ".private_segment_fixed_size");
  r.sharedBytes = numberIn(kernel, ".group_segment_fixed_size");
  r.argumentBytes = numberIn(kernel, ".kernarg_segment_size");
  r.wavefront = numberIn(kernel, ".wavefront_size");
  r.maxThreads = numberIn(kernel, ".max_flat_workgroup_size");
  if (auto arguments = kernel.find(".args"); arguments != kernel.end() && arguments->second.isArray())
    for (llvm::msgpack::DocNode& node : arguments->second.getArray()) {
      llvm::msgpack::MapDocNode& map = node.getMap();
      auto name = map.find(".name");
      r.arguments.push_back({name != map.end() ? name->second.getString().str() : std::string(),
                             numberIn(map, ".offset"), numberIn(map, ".size")});
    }
  return r;
}

} // namespace

Binary compile(const std::string& kernel, const std::string& source, const std::string& architecture) {
  DiskCache* disk = DiskCache::named("kernels");
  const std::string key = disk ? fmt::format("LLVM {} {} {}\n{}\n{}", LLVM_VERSION_STRING, kTriple,
                                             architecture, buildIdentity(), source)
                               : std::string();
  if (auto kept = disk ? disk->find(key) : std::nullopt) return {architecture, std::move(*kept)};
  Binary made{architecture, objectOf(kernel, source, architecture)};
  if (disk) disk->store(key, made.object);
  return made;
}

Resources resourcesOf(const Binary& binary) {
  using File = llvm::object::ELF64LEFile;
  constexpr unsigned kMetadataNote = 32; // NT_AMDGPU_METADATA
  auto file = File::create(binary.object);
  if (!file) throw Error(ErrorKind::Compile, "LLVM: " + llvm::toString(file.takeError()));
  auto sections = file->sections();
  if (!sections) throw Error(ErrorKind::Compile, "LLVM: " + llvm::toString(sections.takeError()));
  for (const File::Elf_Shdr& section : *sections) {
    if (section.sh_type != llvm::ELF::SHT_NOTE) continue;
    llvm::Error error = llvm::Error::success();
    for (const auto& note : file->notes(section, error)) {
      if (note.getName() != "AMDGPU" || note.getType() != kMetadataNote) continue;
      llvm::msgpack::Document document;
      if (!document.readFromBlob(note.getDescAsStringRef(4), false) || !document.getRoot().isMap()) continue;
      auto& root = document.getRoot().getMap();
      auto kernels = root.find("amdhsa.kernels");
      if (kernels != root.end() && kernels->second.isArray() && !kernels->second.getArray().empty()) {
        llvm::consumeError(std::move(error));
        return read(kernels->second.getArray()[0].getMap());
      }
    }
    llvm::consumeError(std::move(error));
  }
  throw Error(ErrorKind::Compile, "the object has no metadata of a kernel");
}

#else

Binary compile(const std::string& kernel, const std::string&, const std::string&) {
  throw Error(ErrorKind::Device,
              fmt::format("kernel {}: this uopscope was built without LLVM, which compiles for GPUs "
                          "of AMD: install llvm-19-dev and build again",
                          kernel));
}
Resources resourcesOf(const Binary&) {
  return {};
}

#endif

std::string codeObject(const std::string& kernel, const Binary& binary) {
  DiskCache* disk = DiskCache::named("kernels");
  const std::string key = "code object\n" + binary.object;
  if (auto kept = disk ? disk->find(key) : std::nullopt) return std::move(*kept);
  const InputFile file(binary.object);
  FinishedChild run = runProgram({linker(), "-shared", "--no-undefined", file.path(), "-o", "-"});
  if (!run.succeeded())
    throw Error(ErrorKind::Compile, fmt::format("kernel {}: lld does not link it\n{}", kernel, run.err));
  if (disk) disk->store(key, run.out);
  return std::move(run.out);
}

std::string listing(const Binary& binary, std::vector<AssemblyLine>* lines) {
  const Resources r = resourcesOf(binary);
  std::string head =
      fmt::format("// {} registers a thread, {} registers spilled, {} bytes shared; {} scalar registers "
                  "a wavefront of {}, {} bytes of scratch a thread\n// {} bytes of arguments:",
                  r.vectorRegisters, r.spilledRegisters, r.sharedBytes, r.scalarRegisters, r.wavefront,
                  r.scratchBytes, r.argumentBytes);
  for (const Argument& a : r.arguments)
    head += fmt::format("{}{} at {}", &a == r.arguments.data() ? " " : ", ", a.name, a.offset);
  std::string code = disassembleObject(binary.object, kTriple, binary.architecture, "", lines);
  if (lines)
    for (AssemblyLine& l : *lines) l.line += 2;
  return head + "\n" + code;
}

std::string wantedArchitecture() {
  const char* value = std::getenv("AMD_ARCH");
  if (!value || !*value) return {};
  const std::string text = value;
  const bool isName = text.size() > 4 && text.starts_with("gfx") &&
                      std::all_of(text.begin() + 3, text.end(),
                                  [](unsigned char c) { return std::isxdigit(c) && !std::isupper(c); });
  if (!isName)
    throw Error(
        ErrorKind::Value,
        fmt::format("AMD_ARCH is \"{}\": it names an architecture such as gfx90a, gfx942 or gfx1100", text));
  return text;
}

std::shared_ptr<Program> makeListing(const LoweredKernel& kernel, const std::string& source,
                                     const std::string& architecture) {
  return std::make_shared<Listing>(compile(kernel.name, source, architecture));
}

} // namespace uopscope::amd
