// Counts of all that was run since the last reset(), as tinygrad.helpers.GlobalCounters shows them.
//
//   GlobalCounters::reset();  runSchedule(s);  GlobalCounters::kernelCount      // 3
#pragma once
#include <cstdint>

namespace uopscope {

/// Counts of kernels run and bytes moved, as the reference has them.
struct GlobalCounters {
  static int64_t globalOps, globalMem, kernelCount, memUsed;
  static double timeSum;
  static void reset();
};

} // namespace uopscope
