// Waits for a process that is not our child, by its pidfd, which becomes readable when the process ends. Sandboxes and old kernels
// refuse pidfds; there the guard looks five times a second who its parent is.
#include "app/cli/orphan_guard.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace uopscope::cli {

namespace {
constexpr int kGraceMs = 800; ///< time for a script that turns SIGINT into KeyboardInterrupt
constexpr int kLookMs = 200;  ///< between two looks at the parent where there are no pidfds
} // namespace

OrphanGuard::OrphanGuard(pid_t watcher, std::function<void()> asked, std::function<void()> last)
    : asked_(std::move(asked)), last_(std::move(last)) {
  if (pipe2(wake_, O_CLOEXEC) != 0) return;
  sigset_t all, before;
  sigfillset(&all); // signals belong to the thread that runs the script
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this, watcher] { watch(watcher); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

OrphanGuard::~OrphanGuard() {
  if (wake_[1] >= 0) close(wake_[1]);
  if (thread_.joinable()) thread_.join();
  if (wake_[0] >= 0) close(wake_[0]);
}

void OrphanGuard::watch(pid_t watcher) {
  const int alive = static_cast<int>(syscall(SYS_pidfd_open, watcher, 0));
  auto doneWithin = [&](int fd, int milliseconds) { // whether the guard was ended first
    pollfd fds[2] = {{wake_[0], POLLIN, 0}, {fd, POLLIN, 0}};
    while (poll(fds, fd < 0 ? 1 : 2, milliseconds) < 0 && errno == EINTR) {
    }
    return fds[0].revents != 0;
  };
  // The watcher may have died before getppid(); then this process already has a different parent.
  const auto watched = [&] { return getppid() == watcher; };
  bool ended = false;
  if (alive >= 0) {
    ended = watched() && doneWithin(alive, -1);
    close(alive);
  } else {
    while (!ended && watched()) ended = doneWithin(-1, kLookMs);
  }
  if (ended) return;
  asked_();
  kill(getpid(), SIGINT);
  if (doneWithin(-1, kGraceMs)) return;
  last_();
  killDescendants(getpid());
  kill(getpid(), SIGKILL);
}

void killDescendants(pid_t of) {
  std::multimap<pid_t, pid_t> children;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc()) continue;
    std::ifstream in(entry.path() / "stat");
    std::string text((std::istreambuf_iterator<char>(in)), {});
    size_t end = text.rfind(')'); // a program's name may contain any character
    if (end == std::string::npos || end + 4 >= text.size()) continue;
    pid_t parent = 0;
    std::from_chars(text.data() + end + 4, text.data() + text.size(), parent);
    children.emplace(parent, pid);
  }
  std::vector<pid_t> stack{of};
  while (!stack.empty()) {
    pid_t pid = stack.back();
    stack.pop_back();
    auto [first, last] = children.equal_range(pid);
    for (auto it = first; it != last; ++it) {
      stack.push_back(it->second);
      kill(it->second, SIGKILL);
    }
  }
}

} // namespace uopscope::cli
