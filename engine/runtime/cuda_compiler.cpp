// NVRTC, opened at run time, and the listing of compiled code.
#include "engine/runtime/cuda_compiler.h"

#include "engine/base/child_process.h"
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/render/cuda_architecture.h"
#include "engine/runtime/disk_cache.h"
#include "engine/runtime/kernel_report.h"
#include "engine/runtime/listing_program.h"
#include "engine/runtime/llvm_gpu.h"
#include "engine/runtime/loaded_library.h"
#include "engine/runtime/python_packages.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>

namespace uopscope::cuda {

namespace {

namespace fs = std::filesystem;

struct Nvrtc {
  using Handle = void*;
  int (*version)(int*, int*);
  int (*supportedCount)(int*);
  int (*supported)(int*);
  int (*createProgram)(Handle*, const char*, const char*, int, const char* const*, const char* const*);
  int (*compileProgram)(Handle, int, const char* const*);
  int (*destroyProgram)(Handle*);
  int (*logSize)(Handle, size_t*);
  int (*log)(Handle, char*);
  int (*ptxSize)(Handle, size_t*);
  int (*ptx)(Handle, char*);
  int (*cubinSize)(Handle, size_t*);
  int (*cubin)(Handle, char*);
  int major = 0, minor = 0;
  std::vector<int> architectures; ///< 75, 80, 90 ...
  std::string include;            ///< the folder of cuda_fp16.h
};

/// The folders of toolkits: those named by environment variables, the default one, those of Python packages.
std::vector<fs::path> toolkits() {
  std::vector<fs::path> all;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* value = std::getenv(name); value && *value) all.emplace_back(value);
  all.emplace_back("/usr/local/cuda");
  all.emplace_back("/usr/lib/cuda");
  std::error_code ignored;
  for (const fs::path& packages : pythonPackageFolders())
    for (const auto& part : fs::directory_iterator(packages / "nvidia", ignored)) all.push_back(part.path());
  return all;
}

void* openLibrary() {
  for (const char* name : {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"})
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  for (const fs::path& toolkit : toolkits())
    for (const char* folder : {"lib64", "lib"})
      for (const char* name : {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"})
        if (void* library = dlopen((toolkit / folder / name).c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  throw Error(
      ErrorKind::Device,
      "there is no compiler of CUDA kernels: libnvrtc.so is missing. Install the CUDA Toolkit, or the "
      "Python package nvidia-cuda-nvrtc; CUDA_HOME names a toolkit elsewhere");
}

std::string includeFolder() {
  for (const fs::path& toolkit : toolkits())
    if (std::error_code ignored; fs::exists(toolkit / "include/cuda_fp16.h", ignored))
      return (toolkit / "include").string();
  return fs::exists("/usr/include/cuda_fp16.h") ? "/usr/include" : "";
}

Nvrtc openNvrtc() {
  const LibraryFunctions nvrtc{openLibrary(), "NVRTC", "it is older than CUDA 11.2"};
  Nvrtc n{};
  nvrtc.take(n.version, "nvrtcVersion");
  nvrtc.take(n.supportedCount, "nvrtcGetNumSupportedArchs");
  nvrtc.take(n.supported, "nvrtcGetSupportedArchs");
  nvrtc.take(n.createProgram, "nvrtcCreateProgram");
  nvrtc.take(n.compileProgram, "nvrtcCompileProgram");
  nvrtc.take(n.destroyProgram, "nvrtcDestroyProgram");
  nvrtc.take(n.logSize, "nvrtcGetProgramLogSize");
  nvrtc.take(n.log, "nvrtcGetProgramLog");
  nvrtc.take(n.ptxSize, "nvrtcGetPTXSize");
  nvrtc.take(n.ptx, "nvrtcGetPTX");
  nvrtc.take(n.cubinSize, "nvrtcGetCUBINSize");
  nvrtc.take(n.cubin, "nvrtcGetCUBIN");
  n.version(&n.major, &n.minor);
  int count = 0;
  if (n.supportedCount(&count) == 0 && count > 0) {
    n.architectures.resize(static_cast<size_t>(count));
    n.supported(n.architectures.data());
    std::sort(n.architectures.begin(), n.architectures.end());
  }
  n.include = includeFolder();
  return n;
}

/// NVRTC, or why there is none. A process looks for it once.
struct Found {
  std::optional<Nvrtc> library;
  std::optional<Error> missing;
};
const Found& findNvrtc() {
  static const Found found = [] {
    Found f;
    try {
      f.library = openNvrtc();
    } catch (const Error& e) {
      f.missing = e;
    }
    return f;
  }();
  return found;
}
const Nvrtc& nvrtc() {
  if (const Found& found = findNvrtc(); !found.library) throw Error(*found.missing);
  return *findNvrtc().library;
}

/// "sm_90", or "compute_90" if 90 is the newest architecture that NVRTC knows and the GPU is newer.
std::string targetFor(const std::string& architecture) {
  auto wanted = static_cast<int>(
      std::strtol(architecture.c_str() + std::min<size_t>(architecture.size(), 3), nullptr, 10));
  const std::vector<int>& known = nvrtc().architectures;
  if (wanted == 0 || known.empty() || std::binary_search(known.begin(), known.end(), wanted))
    return architecture;
  auto above = std::upper_bound(known.begin(), known.end(), wanted);
  if (above == known.begin())
    throw Error(ErrorKind::Device, fmt::format("NVRTC {}.{} has no {}: it begins with sm_{}", nvrtc().major,
                                               nvrtc().minor, architecture, known.front()));
  return fmt::format("compute_{}", *std::prev(above));
}

template <typename Size, typename Get>
std::string textOf(Nvrtc::Handle program, Size size, Get get) {
  size_t bytes = 0;
  if (size(program, &bytes) != 0 || bytes <= 1) return {};
  std::string text(bytes, '\0');
  if (get(program, text.data()) != 0) return {};
  return text;
}
std::string withoutEnd(std::string text) {
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

/// The line of the source that the log names, as "line 7: int x = y;\n"; empty if it names none.
std::string lineNamedBy(const std::string& log, const std::string& source) {
  static const std::regex place(R"(kernel\.cu\((\d+)\))");
  std::smatch found;
  if (!std::regex_search(log, found, place)) return {};
  return sourceLine(source, std::stoul(found[1]));
}

/// The resources in the output of ptxas -v: "23 registers, 0 bytes spilled, 4096 bytes shared".
std::string resourcesIn(const std::string& log) {
  static const std::regex used(R"(Used (\d+) registers)"), spilled(R"((\d+) bytes spill stores)"),
      shared(R"((\d+) bytes smem)");
  std::smatch found;
  if (!std::regex_search(log, found, used)) return {};
  std::string text = fmt::format("{} registers a thread", found[1].str());
  if (std::regex_search(log, found, spilled)) text += fmt::format(", {} bytes spilled", found[1].str());
  text += std::regex_search(log, found, shared) ? fmt::format(", {} bytes shared", found[1].str())
                                                : ", 0 bytes shared";
  // A remark of ptxas on wgmma: that it waits for products one by one, or hands registers over by itself.
  static const std::regex remark(R"(\((C75\d\d)\) ([^\n]*))");
  if (std::regex_search(log, found, remark))
    text += fmt::format("; ptxas {}: {}", found[1].str(), found[2].str());
  return text;
}

Binary compileNow(const std::string& kernel, const std::string& source, const std::string& architecture,
                  const std::vector<std::string>& options) {
  const Nvrtc& n = nvrtc();
  Nvrtc::Handle program = nullptr;
  if (n.createProgram(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr) != 0)
    throw Error(ErrorKind::Compile, fmt::format("kernel {}: NVRTC takes no source", kernel));
  struct Owner {
    const Nvrtc& n;
    Nvrtc::Handle& program;
    ~Owner() { n.destroyProgram(&program); }
  } owner{n, program};
  std::vector<const char*> arguments;
  for (const std::string& o : options) arguments.push_back(o.c_str());
  int status = n.compileProgram(program, static_cast<int>(arguments.size()), arguments.data());
  std::string log = withoutEnd(textOf(program, n.logSize, n.log));
  if (status != 0)
    throw Error(ErrorKind::Compile,
                fmt::format("kernel {}: NVRTC does not compile it for {}\n{}\n{}source:\n{}", kernel,
                            architecture, log, lineNamedBy(log, source), source));
  Binary made;
  made.ptx = withoutEnd(textOf(program, n.ptxSize, n.ptx));
  made.image = textOf(program, n.cubinSize, n.cubin);
  if (made.image.empty()) made.image = made.ptx;
  made.resources = resourcesIn(log);
  return made;
}

/// A Binary as one text for the cache: the lengths of its parts, then the parts.
std::string packed(const Binary& b) {
  return fmt::format("{} {} {}\n{}{}{}", b.image.size(), b.ptx.size(), b.resources.size(), b.image, b.ptx,
                     b.resources);
}
std::optional<Binary> unpacked(const std::string& text) {
  std::istringstream head(text.substr(0, text.find('\n')));
  size_t image = 0, ptx = 0, resources = 0, at = text.find('\n') + 1;
  if (!(head >> image >> ptx >> resources) || at + image + ptx + resources != text.size()) return {};
  return Binary{text.substr(at, image), text.substr(at + image, ptx), text.substr(at + image + ptx)};
}

/// A listing without lines that readers do not need. `placed` returns, for each line, the number of the
/// source line that it names, -1 to keep it, or 0 to drop it.
template <typename Placed>
std::string tidied(const std::string& listing, std::vector<AssemblyLine>* lines, Placed placed) {
  std::string out;
  uint32_t line = 0, source = 0;
  std::istringstream in(listing);
  for (std::string text; std::getline(in, text);) {
    size_t first = text.find_first_not_of(" \t");
    if (first == std::string::npos) continue;
    int place = placed(text, std::string_view(text).substr(first));
    if (place > 0) source = static_cast<uint32_t>(place);
    if (place >= 0) continue;
    out += text + '\n';
    ++line;
    if (lines && source) lines->push_back({line, source});
  }
  return out;
}

/// For nvdisasm: keeps instructions and labels; comments name the source lines.
int placedInSass(const std::string& text, std::string_view trimmed) {
  static const std::regex place(R"x(//## File "[^"]*kernel\.cu", line (\d+))x");
  std::smatch found;
  if (trimmed.starts_with("//#")) return std::regex_search(text, found, place) ? std::stoi(found[1]) : 0;
  return trimmed.starts_with(".L_") || trimmed.starts_with("/*") ? -1 : 0;
}

/// For PTX: drops comments, line tables and debug sections; .loc names the source lines.
class PlacedInPtx {
public:
  int operator()(const std::string& text, std::string_view trimmed) {
    static const std::regex place(R"(\.loc\s+\d+\s+(\d+))");
    std::smatch found;
    if (trimmed.starts_with(".loc")) return std::regex_search(text, found, place) ? std::stoi(found[1]) : 0;
    if (trimmed.starts_with(".section")) inSection_ = true;
    bool kept = !inSection_ && !trimmed.starts_with("//") && !trimmed.starts_with(".file");
    if (inSection_ && trimmed.starts_with('}')) inSection_ = false;
    return kept ? -1 : 0;
  }

private:
  bool inSection_ = false;
};

} // namespace

Binary compile(const std::string& kernel, const std::string& source, const std::string& architecture) {
  const Nvrtc& n = nvrtc();
  // Product and sum are fused only where the program has a MULACC, so every device computes the same value.
  std::vector<std::string> options{"--gpu-architecture=" + targetFor(architecture), "--std=c++17",
                                   "--fmad=false", "-lineinfo", "--ptxas-options=-v"};
  if (n.major >= 13) options.push_back("--no-cache"); // a cached result has no output of ptxas
  if (!n.include.empty()) options.push_back("--include-path=" + n.include);
  DiskCache* disk = DiskCache::named("kernels");
  std::string key;
  if (disk) {
    key = fmt::format("NVRTC {}.{} {}\n{}", n.major, n.minor, fmt::join(options, " "), source);
    if (auto kept = disk->find(key))
      if (auto binary = unpacked(*kept)) return *binary;
  }
  Binary made = compileNow(kernel, source, architecture, options);
  if (disk) disk->store(key, packed(made));
  return made;
}

bool usesLlvm() {
  if (llvmVersion().empty()) return false;
  return envInt("CUDA_LLVM", 0) || !findNvrtc().library;
}

Binary compileIr(const std::string& kernel, const std::string& source, const std::string& architecture) {
  GpuMachine machine{"nvptx64-nvidia-cuda", architecture, "", true, 0};
  // The driver compiles PTX for any newer GPU.
  if (!knowsArchitecture(machine)) machine.architecture = "sm_90";
  Binary made;
  made.ptx = gpuCode(kernel, source, machine);
  made.image = made.ptx;
  return made;
}

std::optional<RegisterUse> registerUseOf(const Binary& binary) {
  static const std::regex counts(R"((\d+) registers a thread, (\d+) bytes spilled)");
  std::smatch found;
  if (!std::regex_search(binary.resources, found, counts)) return {};
  RegisterUse used;
  used.registers = std::stoll(found[1]);
  used.spilledBytes = std::stoll(found[2]);
  return used;
}

std::string sass(const Binary& binary, std::vector<AssemblyLine>* lines) {
  std::string head = binary.resources.empty() ? "" : "// " + binary.resources + "\n";
  std::string further;
  for (const fs::path& toolkit : toolkits()) further += (toolkit / "bin").string() + ":";
  std::string program = findProgram("nvdisasm", further);
  std::string text;
  if (!program.empty() && binary.image != binary.ptx) {
    InputFile file(binary.image);
    FinishedChild run = runProgram({program, "--print-code", "--print-line-info", file.path()});
    if (run.succeeded()) text = tidied(run.out, lines, placedInSass);
  }
  if (text.empty()) text = tidied(binary.ptx, lines, PlacedInPtx());
  if (lines && !head.empty())
    for (AssemblyLine& l : *lines) ++l.line;
  return head + text;
}

std::shared_ptr<Program> makeListing(const LoweredKernel& kernel, const std::string& source,
                                     const std::string& architecture) {
  Binary binary =
      usesLlvm() ? compileIr(kernel.name, source, architecture) : compile(kernel.name, source, architecture);
  if (const int64_t bytes = SharedMemory(kernel).dynamic(); bytes && !binary.resources.empty())
    binary.resources += fmt::format(", {} bytes shared that its launch asks for", bytes);
  const auto registers = registerUseOf(binary);
  return std::make_shared<ListingProgram>(
      [binary = std::move(binary)](auto* lines) { return sass(binary, lines); }, registers);
}

} // namespace uopscope::cuda
