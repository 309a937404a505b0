// Calibration of the processor's counter: both clocks are read twice, a millisecond apart, once per process.
#include "engine/base/clock.h"

namespace uopscope {

int64_t ticksToNs(uint64_t difference) {
#if defined(__x86_64__)
  static const double nsPerTick = [] {
    int64_t ns = nowNs();
    uint64_t t = ticks();
    while (nowNs() - ns < 1000000) {
    }
    int64_t ns2 = nowNs();
    uint64_t t2 = ticks();
    return static_cast<double>(ns2 - ns) / static_cast<double>(t2 - t);
  }();
  return static_cast<int64_t>(static_cast<double>(difference) * nsPerTick);
#else
  return static_cast<int64_t>(difference);
#endif
}

} // namespace uopscope
