// A recording process that outlives who watches it is of no use: when the watcher dies, even by SIGKILL, the
// script gets SIGINT, and what has not ended within a second is killed with everything it started.
//
//   OrphanGuard guard(watcherPid, [&] { progress->stop = true; }, [&] { seal("cancelled"); });
//
// Invariant: a thread of its own waits for the watcher's pidfd and touches nothing else of the process.
#pragma once
#include <sys/types.h>

#include <functional>
#include <thread>

namespace uopscope::cli {

class OrphanGuard {
public:
  /// `asked` runs at once when the watcher is gone; `last` right before the process is killed.
  OrphanGuard(pid_t watcher, std::function<void()> asked, std::function<void()> last);
  ~OrphanGuard();
  OrphanGuard(const OrphanGuard&) = delete;
  OrphanGuard& operator=(const OrphanGuard&) = delete;

private:
  void watch(pid_t watcher);

  std::function<void()> asked_, last_;
  int wake_[2] = {-1, -1}; ///< a pipe whose end says that the guard is no longer needed
  std::thread thread_;
};

/// Ends every process below this one, those that they started included.
void killDescendants(pid_t of);

} // namespace uopscope::cli
