// Monotonic nanoseconds, and the processor's own counter for events that are timed millions of times.
//
//   uint64_t before = ticks();  apply(rule);  spent += ticks() - before;      // later: ticksToNs(spent)
#pragma once
#include <chrono>
#include <cstdint>

namespace uopscope {

inline int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Ticks of a counter that runs at a constant rate; reading it takes a few nanoseconds. ticksToNs converts a
/// difference.
inline uint64_t ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<uint64_t>(nowNs());
#endif
}
/// The rate is measured once, against the monotonic clock.
int64_t ticksToNs(uint64_t difference);

} // namespace uopscope
