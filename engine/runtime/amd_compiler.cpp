// LLVM's AMDGPU target, the notes of its objects, and lld.
#include "engine/runtime/amd_compiler.h"

#include "engine/base/child_process.h"
#include "engine/base/error.h"
#include "engine/runtime/disassembler.h"
#include "engine/runtime/disk_cache.h"
#include "engine/runtime/listing_program.h"
#include "engine/runtime/llvm_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

#ifdef UOPSCOPE_HAVE_LLVM
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/BinaryFormat/MsgPackDocument.h>
#include <llvm/Object/ELFObjectFile.h>
#endif

namespace uopscope::amd {

namespace {

constexpr const char* kTriple = "amdgcn-amd-amdhsa";
/// The version of code objects that every driver since ROCm 4.1 loads.
constexpr unsigned kCodeObjectVersion = 400;
/// It finds which numbers and arguments a kernel does not read, so that none are loaded.
constexpr const char* kLastPass = "amdgpu-attributor";

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

std::string listing(const Binary& binary, std::vector<AssemblyLine>* lines) {
  initialiseGpus(); // the object may come from the cache
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

namespace {
/// LLVM 19 does not know it. It has the instructions of gfx942 and a few of its own, which the listing shows as numbers.
constexpr const char *kGfx950 = "gfx950", *kNearGfx950 = "gfx942";

/// The architecture in the flags of a code object; empty for one that LLVM does not know. LLVM's own question has no answer for
/// numbers that it does not know: what it does then is undefined.
std::string architectureOf(std::string_view object) {
  using namespace llvm::ELF;
  constexpr size_t kFlagsAt = 48;
  constexpr unsigned kGfx950Number = 0x4f;
  if (object.size() < kFlagsAt + 4) return {};
  uint32_t flags = 0;
  std::memcpy(&flags, object.data() + kFlagsAt, sizeof flags);
  const unsigned number = flags & EF_AMDGPU_MACH;
  if (number == kGfx950Number) return kGfx950;
  constexpr unsigned kReserved[] = {EF_AMDGPU_MACH_AMDGCN_RESERVED_0X27, EF_AMDGPU_MACH_AMDGCN_RESERVED_0X49,
                                    EF_AMDGPU_MACH_AMDGCN_RESERVED_0X4D, EF_AMDGPU_MACH_AMDGCN_RESERVED_0X50,
                                    EF_AMDGPU_MACH_AMDGCN_RESERVED_0X56, EF_AMDGPU_MACH_AMDGCN_RESERVED_0X57,
                                    EF_AMDGPU_MACH_AMDGCN_RESERVED_0X58};
  if (number < EF_AMDGPU_MACH_AMDGCN_FIRST || number > EF_AMDGPU_MACH_AMDGCN_LAST ||
      std::ranges::find(kReserved, number) != std::end(kReserved))
    return {};
  auto file = llvm::object::ObjectFile::createELFObjectFile(
      llvm::MemoryBufferRef(llvm::StringRef(object.data(), object.size()), "code object"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return {};
  }
  const auto name = (*file)->tryGetCPUName();
  return name ? name->str() : std::string();
}
} // namespace

/// The code of an object whose header says neither machine nor order of bytes, as tinygrad's assembler of kernels by hand
/// writes it; empty for others. Its first section holds it.
std::string_view codeOfBareObject(std::string_view object) {
  constexpr size_t kHeader = 64, kOrderAt = 5, kSectionsAt = 40, kSection = 64, kOffsetAt = 24;
  if (object.size() < kHeader || object[kOrderAt] != 0) return {};
  auto number = [&](uint64_t at) {
    uint64_t n = 0;
    std::memcpy(&n, object.data() + at, sizeof n);
    return n;
  };
  const uint64_t sections = number(kSectionsAt);
  if (sections > object.size() || object.size() - sections < kSection) return {};
  const uint64_t from = number(sections + kOffsetAt), size = number(sections + kOffsetAt + 8);
  return from > object.size() || size > object.size() - from ? std::string_view() : object.substr(from, size);
}

std::string disassembly(std::string_view object, std::string* architecture, const std::string& ofMachine) {
  initialiseGpus();
  if (const std::string_view code = codeOfBareObject(object); !code.empty() && !ofMachine.empty()) {
    if (architecture) *architecture = ofMachine;
    std::string text =
        disassembleCode(code, "kernel", kTriple, ofMachine == kGfx950 ? kNearGfx950 : ofMachine);
    if (text.empty()) throw Error(ErrorKind::Compile, fmt::format("LLVM does not know {}", ofMachine));
    return text;
  }
  auto file = llvm::object::ObjectFile::createELFObjectFile(
      llvm::MemoryBufferRef(llvm::StringRef(object.data(), object.size()), "code object"));
  if (!file) throw Error(ErrorKind::Compile, "no code object: " + llvm::toString(file.takeError()));
  const std::string name =
      (*file)->getArch() == llvm::Triple::amdgcn ? architectureOf(object) : std::string();
  if (name.empty()) throw Error(ErrorKind::Compile, "the object is not of a GPU of AMD that LLVM knows");
  if (architecture) *architecture = name;
  return disassembleObject(object, kTriple, name == kGfx950 ? kNearGfx950 : name, "");
}

#else

std::string disassembly(std::string_view, std::string*, const std::string&) {
  throw Error(ErrorKind::Device, "machine code is read by LLVM, which this program was built without");
}
Resources resourcesOf(const Binary&) {
  return {};
}
std::string listing(const Binary&, std::vector<AssemblyLine>*) {
  return {};
}

#endif

RegisterUse registerUseOf(const Binary& binary) {
  constexpr int64_t kRegisterBytes = 4;
  const Resources r = resourcesOf(binary);
  RegisterUse used;
  used.registers = r.vectorRegisters;
  used.spills = r.spilledRegisters;
  used.spilledBytes = r.spilledRegisters * kRegisterBytes;
  used.stackBytes = r.scratchBytes;
  return used;
}

Binary compile(const std::string& kernel, const std::string& source, const std::string& architecture) {
  const GpuMachine machine{kTriple, architecture, kLastPass, false, kCodeObjectVersion};
  if (!llvmVersion().empty() && !knowsArchitecture(machine))
    throw Error(ErrorKind::Value,
                fmt::format("LLVM {} knows no GPU of AMD called \"{}\"; there are gfx90a, gfx942, "
                            "gfx1100 and others",
                            llvmVersion(), architecture));
  return {architecture, gpuCode(kernel, source, machine)};
}

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
  Binary binary = compile(kernel.name, source, architecture);
  const RegisterUse registers = registerUseOf(binary);
  return std::make_shared<ListingProgram>(
      [binary = std::move(binary)](auto* lines) { return listing(binary, lines); }, registers);
}

} // namespace uopscope::amd
