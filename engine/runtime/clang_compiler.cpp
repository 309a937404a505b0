// Compiles C with the system's clang. The source goes to standard input. The result is a shared library in a
// temporary directory, which is loaded and deleted at once.
#include "engine/base/child_process.h"
#include "engine/base/error.h"
#include "engine/render/signature.h"
#include "engine/runtime/disk_cache.h"
#include "engine/runtime/kernel_code.h"
#include "engine/runtime/processor.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace uopscope {

namespace {

constexpr const char* kFlags[] = {
    "-x", "c", "-std=gnu17", "-O2", "-fno-slp-vectorize", "-fPIC", "-w",
    // The semantics of the reference interpreter: integers wrap, halves round after every operation.
    "-fwrapv", "-fno-strict-aliasing", "-Xclang", "-ffloat16-excess-precision=none",
    // Each operation rounds once, so a value is the same in every kernel.
    "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"};

std::string findClang() {
  // Names with a version come first, since the plain name may be an older clang. Halves need version 16 or
  // later.
  for (const char* name : {"clang-21", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16", "clang"})
    if (std::string found = findProgram(name); !found.empty()) return found;
  throw Error(ErrorKind::Compile,
              "no clang in PATH: install the package clang-19, or build with LLVM and leave CPU_LLVM=1");
}

/// The flags that disable AVX512-FP16 on this machine, as far as this clang knows them; processor.cpp has the
/// reason.
const std::vector<std::string>& flagsOfHost() {
  static const std::vector<std::string> flags = [] {
    std::vector<std::string> known;
#if defined(__x86_64__)
    for (const char* flag : {"-mno-avx10.1-256", "-mno-avx512fp16"})
      if (runProgram({findClang(), flag, "-E", "-x", "c", "/dev/null"}, "").status == 0)
        known.push_back(flag);
#endif
    return known;
  }();
  return flags;
}

std::vector<std::string> commandLine(std::initializer_list<const char*> more) {
  std::vector<std::string> command{findClang()};
  command.insert(command.end(), std::begin(kFlags), std::end(kFlags));
  command.push_back("-march=" + processor().march);
  if (processor().march == "native")
    command.insert(command.end(), flagsOfHost().begin(), flagsOfHost().end());
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

/// Adds a function with a fixed signature that calls the kernel, so that the loader calls every kernel alike.
std::string withEntry(const std::string& function, const KernelSignature& signature,
                      const std::string& source) {
  std::vector<std::string> arguments;
  for (size_t i = 0; i < signature.globals.size(); ++i) arguments.push_back(fmt::format("buffers[{}]", i));
  for (size_t i = 0; i < signature.vars.size(); ++i) arguments.push_back(fmt::format("vars[{}]", i));
  if (signature.hasCoreId()) arguments.push_back("core");
  return fmt::format(
      "{}\nvoid uopscope_entry(void* const* buffers, const long long* vars, int core) {{\n  {}({});\n}}\n",
      source, function, fmt::join(arguments, ", "));
}

class ClangCode : public KernelCode {
public:
  ClangCode(void* library, std::string source) : library_(library), source_(std::move(source)) {
    entry_ = reinterpret_cast<Entry>(dlsym(library, "uopscope_entry"));
    if (entry_) return;
    dlclose(library_);
    throw Error(ErrorKind::Compile,
                fmt::format("the compiled library has no entry: {}\nsource:\n{}", "uopscope_entry", source_));
  }
  ~ClangCode() override { dlclose(library_); }
  Entry entry() const override { return entry_; }
  std::string assembly() const override {
    return runProgram(commandLine({"-S", "-masm=intel", "-o", "-", "-"}), source_).out;
  }

private:
  void* library_;
  std::string source_;
  Entry entry_;
};

class ClangCompiler : public KernelCompiler {
public:
  std::shared_ptr<KernelCode> compile(const std::string& function, const KernelSignature& signature,
                                      const std::string& source) override {
    std::string whole = withEntry(function, signature, source);
    DiskCache* disk = DiskCache::named("kernels");
    std::string key = disk ? identity() + processor().march + "\n" + whole : std::string();
    auto found = disk ? disk->find(key) : std::nullopt;
    std::string directory = (std::filesystem::temp_directory_path() / "uopscope-XXXXXX").string();
    if (!mkdtemp(directory.data()))
      throw Error(ErrorKind::Compile,
                  fmt::format("no temporary directory {}: {}; set TMPDIR to one that can be written to",
                              directory, std::strerror(errno)));
    std::string library = directory + "/kernel.so";
    struct Cleanup {
      const std::string &directory, &library;
      ~Cleanup() {
        unlink(library.c_str());
        rmdir(directory.c_str());
      }
    } cleanup{directory, library};
    if (found) {
      std::ofstream(library, std::ios::binary) << *found;
    } else {
      FinishedChild run = runProgram(commandLine({"-shared", "-o", library.c_str(), "-"}), whole);
      if (!WIFEXITED(run.status) || WEXITSTATUS(run.status) != 0)
        throw Error(ErrorKind::Compile, fmt::format("kernel {}: clang does not compile it\n{}\nsource:\n{}",
                                                    function, run.err, source));
    }
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      throw Error(ErrorKind::Compile, fmt::format("kernel {}: compiled, but not loaded: {}\nsource:\n{}",
                                                  function, dlerror(), source));
    auto code = std::make_shared<ClangCode>(handle, source);
    if (disk && !found) {
      std::ifstream in(library, std::ios::binary);
      disk->store(key, std::string(std::istreambuf_iterator<char>(in), {}));
    }
    return code;
  }

private:
  /// Everything that machine code depends on besides the source text.
  static const std::string& identity() {
    static const std::string text = [] {
      std::string clang = findClang();
      struct stat info{};
      ::stat(clang.c_str(), &info);
      return fmt::format("{} {} {}.{} {}\n{}\n{}\n", clang, info.st_size, info.st_mtim.tv_sec,
                         info.st_mtim.tv_nsec, fmt::join(kFlags, " "), buildIdentity(), hostIdentity());
    }();
    return text;
  }
};

} // namespace

std::unique_ptr<KernelCompiler> makeClangCompiler() {
  return std::make_unique<ClangCompiler>();
}

} // namespace uopscope
