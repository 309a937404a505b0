// How many stages of shared memory take turns where copies are asynchronous: with N of them, the copies of N - 1 steps are
// under way while a step is computed.
//
//   StagedStep step{.products = 128 * 256 * 64, .bytes = 49152};
//   stagesOf(step, 2048, 232448, 64).count      // 3: 1,576 cycles a step; two stages take 2,056
//
// A step takes as long as its products, as its bytes take to arrive, or as a copy takes from its beginning to its end
// divided by the copies under way; and a barrier. The cheapest number of stages is taken, of several the smallest.
#pragma once
#include "engine/rewrite/observer.h"

#include <cstdint>
#include <vector>

namespace uopscope {

struct StagedStep {
  int64_t products = 0;  ///< that a group multiplies and adds in a step
  int64_t bytes = 0;     ///< copied for it: the size of a stage
  int64_t groups = 1;    ///< that a processor runs at once
  int64_t computing = 0; ///< steps before this one whose products may still read their stages
};

/// Cycles between two steps of a group.
double cyclesOfStep(const StagedStep& step, int64_t rate, int64_t stages);

struct Stages {
  int64_t count = 2;
  double cycles = 0;  ///< of a step
  int64_t groups = 1; ///< that a processor runs at once: fewer than asked for if memory is short
  std::vector<Decision::Alternative> others; ///< other numbers of stages that fit, cheapest first
};
/// The stages for a tensor core of `rate` products a cycle, if a processor has `sharedBytes` of shared memory and a kernel
/// `steps` steps; no count if not even the fewest fit.
Stages stagesOf(StagedStep step, int64_t rate, int64_t sharedBytes, int64_t steps);

} // namespace uopscope
