// A job is published by a store to claims_; counting job_ up wakes the sleepers. A thread that claims an
// index below the job's count may read call_ and context_: the job cannot end before that index is done. A
// worker that wakes late finds no index left and has touched nothing, so it is not waited for.
#include "engine/runtime/thread_pool.h"

#include "engine/base/clock.h"

#ifdef __linux__
#include <sched.h>
#endif

namespace uopscope {

namespace {
constexpr int64_t kSpinNs = 20'000;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

#ifdef __linux__
int processorHere() {
  return sched_getcpu();
}
/// Moves this thread to any other processor that it may use.
void leave(int processor) {
  cpu_set_t allowed, others;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return; // more processors than a cpu_set_t has
  others = allowed;
  CPU_CLR(processor, &others);
  if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0)
    sched_setaffinity(0, sizeof allowed, &allowed);
}
#else
int processorHere() {
  return -1;
}
void leave(int) {}
#endif
} // namespace

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
  stop_ = true;
  ++job_;
  job_.notify_all();
  for (std::thread& w : workers_) w.join();
}

void ThreadPool::takePart() {
  for (;;) {
    uint64_t claim = claims_.fetch_add(1, std::memory_order_acq_rel);
    auto index = static_cast<uint32_t>(claim), count = static_cast<uint32_t>(claim >> 32);
    if (index >= count) return;
    call_(context_, static_cast<int>(index));
    done_.fetch_add(1, std::memory_order_release);
  }
}

void ThreadPool::work() {
  uint32_t seen = 0;
  for (;;) {
    int64_t until = nowNs() + kSpinNs;
    while (job_.load(std::memory_order_acquire) == seen && nowNs() < until) relax();
    while (job_.load(std::memory_order_acquire) == seen) job_.wait(seen, std::memory_order_acquire);
    seen = job_.load(std::memory_order_acquire);
    if (stop_) return;
    const int here = processorHere();
    if (here >= 0 && here == callersProcessor_.load(std::memory_order_relaxed)) leave(here);
    takePart();
  }
}

void ThreadPool::runShared(int count, Call call, void* context) {
  std::unique_lock lock(busy_, std::try_to_lock);
  if (!lock) {
    for (int i = 0; i < count; ++i) call(context, i);
    return;
  }
  call_ = call;
  context_ = context;
  done_.store(0, std::memory_order_relaxed);
  callersProcessor_.store(processorHere(), std::memory_order_relaxed);
  claims_.store(static_cast<uint64_t>(count) << 32, std::memory_order_release);
  job_.fetch_add(1, std::memory_order_release);
  job_.notify_all();
  takePart();
  for (int spins = 0; done_.load(std::memory_order_acquire) != count; ++spins) {
    if (spins < 10'000)
      relax();
    else
      std::this_thread::yield();
  }
}

} // namespace uopscope
