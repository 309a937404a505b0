// Threads that stay: a kernel split over cores starts within microseconds.
//
//   ThreadPool pool(4);
//   pool.run(4, [&](int core) { work(core); });   // returns when all four are done; the caller does its
//   share
//
// Workers spin for a short while after a job, then sleep. Jobs asked for while another runs are done by the
// caller.
#pragma once
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace uopscope {

class ThreadPool {
public:
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// f(0) ... f(count-1), in any order, on any thread. f must not throw.
  template <typename F>
  void run(int count, F&& f) {
    if (count == 1 || workers_.empty()) {
      for (int i = 0; i < count; ++i) f(i);
      return;
    }
    runShared(
        count, [](void* context, int i) { (*static_cast<std::remove_reference_t<F>*>(context))(i); }, &f);
  }
  int threads() const { return static_cast<int>(workers_.size()) + 1; }

private:
  using Call = void (*)(void*, int);
  void runShared(int count, Call call, void* context);
  void work();
  void takePart();

  std::vector<std::thread> workers_;
  std::mutex busy_;
  Call call_ = nullptr;
  void* context_ = nullptr;
  std::atomic<uint32_t> job_{0};    ///< grows by one per job
  std::atomic<uint64_t> claims_{0}; ///< high half: indices of the job, low half: the next one to do
  std::atomic<int> done_{0};
  std::atomic<bool> stop_{false};
};

/// CPU_COUNT, or the cores this process may run on.
int cpuCount();

} // namespace uopscope
