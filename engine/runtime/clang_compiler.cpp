// Compiles C by the system's clang: source through standard input, a shared library in a directory of its
// own, loaded and deleted at once.
#include "engine/base/error.h"
#include "engine/render/signature.h"
#include "engine/runtime/disk_cache.h"
#include "engine/runtime/kernel_code.h"
#include "engine/runtime/processor.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

extern char** environ;

namespace uopscope {

namespace {

constexpr const char* kFlags[] = {
    "-x", "c", "-std=gnu17", "-O2", "-fno-slp-vectorize", "-fPIC", "-w",
    // As the reference interpreter computes: integers wrap, halves round every time.
    "-fwrapv", "-fno-strict-aliasing", "-Xclang", "-ffloat16-excess-precision=none",
    // Each operation rounds once: a value is the same in every kernel.
    "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"};

std::string findClang() {
  const char* path = std::getenv("PATH");
  // By version first: the plain name may be an older one. Halves need 16 at least.
  for (const char* name : {"clang-21", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16", "clang"}) {
    std::string rest = path ? path : "/usr/bin:/bin";
    while (!rest.empty()) {
      size_t colon = rest.find(':');
      std::string candidate = rest.substr(0, colon) + "/" + name;
      if (access(candidate.c_str(), X_OK) == 0) return candidate;
      rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
    }
  }
  throw Error(ErrorKind::Compile,
              "no clang in PATH: install the package clang-19, or build with LLVM and leave CPU_LLVM=1");
}

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw Error(ErrorKind::Runtime, fmt::format("no pipe to the compiler: {}", std::strerror(errno)));
  }
  ~Pipe() {
    close(0);
    close(1);
  }
  void close(int i) {
    if (ends[i] >= 0) ::close(ends[i]);
    ends[i] = -1;
  }
};

struct Finished {
  int status;
  std::string out, err;
};

/// A compiler that dies while it is fed ends the write with an error, not this process with SIGPIPE.
class NoSigpipe {
public:
  NoSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoSigpipe() {
    timespec now{};
    while (sigtimedwait(&pipe_, nullptr, &now) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

private:
  sigset_t pipe_, before_;
};

/// Runs a program to its end, feeding it `input`.
Finished runProgram(const std::vector<std::string>& arguments, const std::string& input) {
  Pipe in, out, err;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.ends[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err.ends[1], 2);
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  int failure = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure)
    throw Error(ErrorKind::Compile, fmt::format("cannot start {}: {}", arguments[0], std::strerror(failure)));
  in.close(0);
  out.close(1);
  err.close(1);
  fcntl(in.ends[1], F_SETFL, O_NONBLOCK);

  NoSigpipe guard; // after the child began, which must not inherit it
  Finished result{};
  size_t written = 0;
  if (input.empty()) in.close(1);
  while (out.ends[0] >= 0 || err.ends[0] >= 0) {
    pollfd fds[3] = {{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}, {in.ends[1], POLLOUT, 0}};
    if (poll(fds, 3, -1) < 0 && errno != EINTR) break;
    char block[65536];
    auto drain = [&](Pipe& p, pollfd& fd, std::string& text) {
      if (p.ends[0] < 0 || !(fd.revents & (POLLIN | POLLHUP | POLLERR))) return;
      ssize_t n = read(p.ends[0], block, sizeof block);
      if (n > 0)
        text.append(block, static_cast<size_t>(n));
      else if (n == 0 || errno != EINTR)
        p.close(0);
    };
    drain(out, fds[0], result.out);
    drain(err, fds[1], result.err);
    if (in.ends[1] >= 0 && fds[2].revents) {
      ssize_t n = write(in.ends[1], input.data() + written, input.size() - written);
      if (n > 0) written += static_cast<size_t>(n);
      if ((n < 0 && errno != EAGAIN && errno != EINTR) || written == input.size()) in.close(1);
    }
  }
  while (waitpid(pid, &result.status, 0) < 0 && errno == EINTR) {
  }
  return result;
}

/// What keeps this machine's own target from AVX512-FP16, as far as this clang knows of it: see
/// processor.cpp.
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

/// The library calls every kernel through one form of function.
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
  std::string ir() const override {
    return runProgram(commandLine({"-S", "-emit-llvm", "-o", "-", "-"}), source_).out;
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
      Finished run = runProgram(commandLine({"-shared", "-o", library.c_str(), "-"}), whole);
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
  /// Everything machine code depends on but the text it is made from.
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
