// Starting child processes, feeding them input and collecting their output.
#include "engine/base/child_process.h"

#include "engine/base/clock.h"
#include "engine/base/error.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace uopscope {

namespace {

/// How often limits of a running child are looked at.
constexpr int kLookMs = 20;

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw Error(ErrorKind::Runtime, fmt::format("no pipe to a child process: {}", std::strerror(errno)));
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

/// Blocks SIGPIPE: writing to a child that died then fails with an error instead of ending this process.
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

} // namespace

FinishedChild runProgram(const std::vector<std::string>& arguments, const std::string& input,
                         const ChildLimits& limits) {
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

  NoSigpipe guard; // created after the child was started, which must not inherit the blocked signal
  FinishedChild result{};
  size_t written = 0;
  if (input.empty()) in.close(1);
  const int64_t end = nowNs() + int64_t{limits.seconds} * 1'000'000'000;
  auto broken = [&] {
    if (limits.stop && limits.stop->load(std::memory_order_relaxed)) return FinishedChild::End::Stopped;
    if (limits.seconds && nowNs() > end) return FinishedChild::End::TooLong;
    if (limits.bytes && result.out.size() + result.err.size() > limits.bytes)
      return FinishedChild::End::TooMuch;
    return FinishedChild::End::Itself;
  };
  const bool limited = limits.seconds || limits.bytes || limits.stop;
  while (out.ends[0] >= 0 || err.ends[0] >= 0) {
    pollfd fds[3] = {{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}, {in.ends[1], POLLOUT, 0}};
    if (poll(fds, 3, limited ? kLookMs : -1) < 0 && errno != EINTR) break;
    if (limited && (result.end = broken()) != FinishedChild::End::Itself) {
      kill(pid, SIGKILL);
      break;
    }
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

std::string findProgram(std::string_view name, std::string_view further) {
  const char* path = std::getenv("PATH");
  std::string rest = fmt::format("{}:{}", path ? path : "/usr/bin:/bin", further);
  while (!rest.empty()) {
    size_t colon = rest.find(':');
    std::string candidate = fmt::format("{}/{}", rest.substr(0, colon), name);
    if (colon != 0 && access(candidate.c_str(), X_OK) == 0) return candidate;
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return {};
}

std::string companionProgram(std::string_view name) {
  std::error_code ignored;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const char* folder : {".", "bin", "../bin", "../lib/uopscope"})
    if (const auto p = here / folder / name; access(p.c_str(), X_OK) == 0) return p.string();
  if (std::string path = findProgram(name); !path.empty()) return path;
  throw Error(ErrorKind::Runtime,
              fmt::format("{} is missing beside {}: build or install uopscope again", name, here.string()));
}

InputFile::InputFile(std::string_view content)
    : path_((std::filesystem::temp_directory_path() / "uopscope-XXXXXX").string()) {
  const int file = mkstemp(path_.data());
  if (file < 0) {
    path_.clear();
    return;
  }
  close(file);
  std::ofstream(path_, std::ios::binary) << content;
}

InputFile::~InputFile() {
  if (!path_.empty()) unlink(path_.c_str());
}

void limitMemory([[maybe_unused]] uint64_t bytes) {
#if defined(__has_feature)
#define UOPSCOPE_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UOPSCOPE_SANITIZED 1
#endif
#if !defined(UOPSCOPE_SANITIZED) || !UOPSCOPE_SANITIZED
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

} // namespace uopscope
