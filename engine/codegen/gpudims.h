// The pass "add gpudims": ranges that the hardware runs in parallel become hardware indices.
//
//   GLOBAL, THREAD  ->  SPECIAL gidx0, gidx1, gidx2        (or the variable core_id on a target with threads)
//   LOCAL, WARP, GROUP_REDUCE  ->  SPECIAL lidx0 ...
//
// Dimensions are joined if there are more of them than the hardware has, and split if they are larger than it
// allows. A store that does not depend on a local index is done by the threads for which that index is 0.
#pragma once
#include "engine/codegen/target.h"

namespace uopscope {

bool isGlobalAxis(AxisType type); ///< GLOBAL or THREAD
bool isLocalAxis(AxisType type);  ///< LOCAL, WARP or GROUP_REDUCE

std::span<const RuleDef> gpuDimRules(); ///< needs TargetContext

} // namespace uopscope
