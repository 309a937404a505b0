// The peaks of this machine's processor, measured: arithmetic in registers, reads from the nearest caches, reads
// from memory, by as many threads as kernels have.
//
//   Peaks p = knownPeaks(2);            // measures once (a second), then reads ~/.cache/uopscope/peaks.json
//   p.gflops, p.gbPerSecond
//
// Peaks of another device, or of a trace from another machine, are given by hand.
#pragma once
#include "engine/codegen/machine_rates.h"

#include <cstdint>
#include <string>

namespace uopscope {

struct Peaks {
  double gflops = 0;           ///< float32: a fused multiply-add is two
  double gbPerSecond = 0;      ///< from memory
  double cacheGbPerSecond = 0; ///< from the second cache
  int64_t cacheBytes = 0;      ///< of all threads: smaller data stays in the cache between launches
  std::string machine = {};    ///< machineText() of where they were measured; empty: given by hand
  MachineRates rates = {}; ///< for the prediction of a kernel's time; unknown where peaks are given by hand
  bool known() const { return gflops > 0 && gbPerSecond > 0; }
};

/// Takes about a second. threads: from 1.
Peaks measurePeaks(int threads);
/// Reads the peaks of this machine for this number of threads, measured before; measures and keeps them where
/// there are none or `again` asks. A cache folder that cannot be written costs the second each time.
Peaks knownPeaks(int threads, bool again = false);

} // namespace uopscope
