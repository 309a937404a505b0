// load collapse: sums over a range whose terms are zero but for a few steps are computed without a loop.
//
//   sum over r of (idx == r ? t[r] : 0)          ->  0 <= idx < n ? t[idx] : 0      (a tensor indexed by a
//   tensor) sum over r of (r < k ? v : 0), v without r   ->  clamp(k, 0, n) * v             (arange, one-hot
//   counts)
#pragma once
#include "engine/rewrite/matcher.h"

namespace uopscope {

std::span<const RuleDef> loadCollapseRules();

} // namespace uopscope
