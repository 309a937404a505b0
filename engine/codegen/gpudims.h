// add gpudims: ranges that the hardware runs side by side become its indices.
//
//   GLOBAL, THREAD  ->  SPECIAL gidx0, gidx1, gidx2        (or the variable core_id on a target with threads)
//   LOCAL, WARP, GROUP_REDUCE  ->  SPECIAL lidx0 ...
//
// More dimensions than the hardware has are joined, larger ones than it allows are split. A store that does
// not depend on a local index is done by the threads where that index is 0.
#pragma once
#include "engine/codegen/target.h"

namespace uopscope {

std::span<const RuleDef> gpuDimRules(); ///< needs TargetContext

} // namespace uopscope
