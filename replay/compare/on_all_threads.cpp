// Threads take the next part that nobody has taken.
#include "replay/compare/on_all_threads.h"

#include "engine/base/cpu_count.h"
#include "engine/base/engine_session.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace uopscope {

bool onAllThreads(size_t count, const std::function<void(size_t)>& work,
                  const std::function<bool(double)>& progress) {
  std::atomic<size_t> next{0}, done{0};
  std::atomic<bool> stopped{false};
  std::exception_ptr failure;
  std::mutex failing;
  auto take = [&](bool reports) {
    try {
      for (size_t k; !stopped && (k = next++) < count; ++done) {
        if (reports && progress && !progress(static_cast<double>(done) / static_cast<double>(count)))
          stopped = true;
        else
          work(k);
      }
    } catch (...) {
      std::lock_guard lock(failing);
      failure = std::current_exception();
      stopped = true;
    }
  };
  {
    EngineSession& session = EngineSession::current();
    std::vector<std::jthread> helpers;
    for (size_t k = 1; k < std::min(count, static_cast<size_t>(cpuCount())); ++k)
      helpers.emplace_back([&] {
        EngineSessionScope in(session);
        take(false);
      });
    take(true);
  }
  if (failure) std::rethrow_exception(failure);
  return !stopped;
}

} // namespace uopscope
