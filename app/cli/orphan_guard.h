// A recording process must not outlive its watcher. When the watcher dies, even by SIGKILL, the script gets
// SIGINT. A script that has not ended within a second is killed with every process it started.
//
//   OrphanGuard guard(watcherPid, [&] { progress->stop = true; }, [&] { seal("cancelled"); });
//
// Invariant: a separate thread waits for the watcher's pidfd and touches no other state of the process.
#pragma once
#include <sys/types.h>

#include <functional>
#include <thread>

namespace uopscope::cli {

class OrphanGuard {
public:
  /// `asked` runs as soon as the watcher is gone; `last` runs right before the process is killed.
  OrphanGuard(pid_t watcher, std::function<void()> asked, std::function<void()> last);
  ~OrphanGuard();
  OrphanGuard(const OrphanGuard&) = delete;
  OrphanGuard& operator=(const OrphanGuard&) = delete;

private:
  void watch(pid_t watcher);

  std::function<void()> asked_, last_;
  int wake_[2] = {-1, -1}; ///< a pipe; closing it tells the thread to end
  std::thread thread_;
};

/// Ends every process below this one, including their children.
void killDescendants(pid_t of);

} // namespace uopscope::cli
