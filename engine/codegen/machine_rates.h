// The rates of a processor that the time model of kernels needs: operations a cycle, the latency of sums, the caches, and
// what it costs to start a kernel. They are measured by replay/experiment/rates.h and handed in, so the model holds no
// number of a machine.
//
//   const PredictedTime t = predictTime(lowered.uops, rates);         // time_model.h
//
// "Operation" is one of a whole vector register, or of a scalar. Bytes a cycle are those of one core.
#pragma once
#include <cstdint>

namespace uopscope {

/// A cache, or memory: what lies behind it comes at the rates of the next one.
struct MemoryRates {
  int64_t bytes = 0;    ///< capacity, of one core; of all cores together where they share it; 0: memory
  double read = 0;      ///< bytes a cycle, read in order by one core
  double shared = 0;    ///< bytes a cycle and core, read by all cores at once
  double write = 0;     ///< bytes a cycle stored by a core, all cores at once
  double latencyNs = 0; ///< until a value is there, each read waiting for the one before
  double scattered = 0; ///< cycles a line that lies far from the one before, independent reads
};

struct MachineRates {
  double cycleNs = 0;    ///< nanoseconds of a dependent integer addition
  int registerLanes = 4; ///< 32-bit values in a vector register
  int cores = 1;
  double multiplyAdds = 0;   ///< a cycle: fused multiply-adds, and products
  double additions = 0;      ///< a cycle: additions of floats, maxima, comparisons
  double mixed = 0;          ///< a cycle: products and additions in turns
  double division = 0;       ///< cycles of a division of a whole register of floats
  double scalarDivision = 0; ///< cycles of a division of one float
  double shuffles = 0;       ///< a cycle: lanes moved inside a register
  double instructions = 0;   ///< a cycle: additions of integers in scalar registers, all independent
  double loads = 0;          ///< vectors a cycle from the first cache
  double stores = 0;         ///< vectors a cycle into the first cache
  double latency = 0;        ///< cycles until the result of an addition of floats may be used
  double forwarding = 0;     ///< cycles until a load sees what was stored just before
  double mispredicted = 0;   ///< cycles of a branch that goes the other way than expected
  /// The first cache (its rate is that of `loads`), the second, the last, memory.
  MemoryRates first, second, last, memory;
  double launchNs = 0;       ///< of a kernel that does nothing, on one thread
  double threadsNs = 0;      ///< the same on all threads, which are awake
  double wakeNs = 0;         ///< the same on all threads, which sleep
  double newByteNs = 0;      ///< a byte of memory that is written to for the first time
  double newLargeByteNs = 0; ///< the same in blocks of 2 MB or more, which have large pages
  bool known() const { return cycleNs > 0 && cores > 0 && instructions > 0 && memory.read > 0; }
};

} // namespace uopscope
