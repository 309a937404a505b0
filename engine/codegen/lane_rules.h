// Lanes of vectors in the pass "devectorize": GEP finds the lane it names, and arithmetic on more lanes than the target
// computes at once is cut into parts. Each rule keeps the value of every lane.
//
//   GEP(VECTORIZE(a, b, c), 1)                ->  b
//   ADD of 8 lanes, where the target has 4    ->  CAT of two ADDs of 4 lanes
#pragma once
#include "engine/rewrite/matcher.h"

namespace uopscope {

/// Needs TargetContext (engine/codegen/memory.h).
std::span<const RuleDef> laneRules();

} // namespace uopscope
