// Persistent threads: a kernel that is split over cores starts within microseconds.
//
//   ThreadPool pool(4);
//   pool.run(4, [&](int core) { work(core); });   // returns when all four are done; the caller takes part
//
// Workers spin for a short while after a job, then sleep. A job given while another job runs is done by its
// caller alone. A worker that wakes on its caller's processor goes to another one: the system would leave both there, since each
// sleeps before it looks for an idle processor, and every kernel took twice as long.
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

  /// Calls f(0) ... f(count-1), in any order, on any thread. f must not throw.
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
  std::atomic<uint32_t> job_{0};    ///< incremented with every job
  std::atomic<uint64_t> claims_{0}; ///< high half: number of indices of the job, low half: next index
  std::atomic<int> done_{0};
  std::atomic<int> callersProcessor_{-1};
  std::atomic<bool> stop_{false};
};

} // namespace uopscope
