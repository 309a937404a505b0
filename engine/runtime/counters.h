// Counts of everything that a session ran since the last reset(), as tinygrad.helpers.GlobalCounters shows
// them.
//
//   GlobalCounters::current().reset();  runSchedule(s);  GlobalCounters::current().kernelCount      // 3
#pragma once
#include <cstdint>

namespace uopscope {

/// Kernels run and bytes moved, with the fields of the reference.
struct GlobalCounters {
  int64_t globalOps = 0, globalMem = 0; ///< operations, and bytes that kernels read and wrote
  int64_t kernelCount = 0;
  int64_t memUsed = 0; ///< bytes allocated now; reset() keeps it
  double timeSum = 0;  ///< seconds
  void reset();
  static GlobalCounters& current();
};

} // namespace uopscope
