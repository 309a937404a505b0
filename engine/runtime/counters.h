// Counts of all that a session ran since the last reset(), as tinygrad.helpers.GlobalCounters shows them.
//
//   GlobalCounters::current().reset();  runSchedule(s);  GlobalCounters::current().kernelCount      // 3
#pragma once
#include <cstdint>

namespace uopscope {

/// Counts of kernels run and bytes moved, as the reference has them.
struct GlobalCounters {
  int64_t globalOps = 0, globalMem = 0; ///< operations, bytes that kernels read and wrote
  int64_t kernelCount = 0;
  int64_t memUsed = 0; ///< bytes allocated now; reset() leaves them
  double timeSum = 0;  ///< seconds
  void reset();
  static GlobalCounters& current();
};

} // namespace uopscope
