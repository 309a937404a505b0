// Monotonic nanoseconds, and the raw cycle counter for what is timed millions of times.
#pragma once
#include <chrono>
#include <cstdint>

namespace uopscope {

inline int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace uopscope
