// Whether two index expressions are the same but for the names of their loops, and which loop stands for which.
//
//   matchRanges(r0*4 + r1, r2*4 + r3, {r0, r1}, {r2, r3})    ->  {r2: r0, r3: r1}
//   matchRanges(r0*4 + r1, r2 + r3*5, ...)                   ->  {}
//
// Loops stand for one another if they have the same number of steps and are of the same kind.
#pragma once
#include "engine/uop/uop.h"

namespace uopscope {

/// The range of `first` that each of `second` stands for in v; empty if u and v differ otherwise, or if a range of `second` is
/// not in v.
UOpMap<UOp> matchRanges(UOp u, UOp v, std::span<const UOp> first, std::span<const UOp> second);

} // namespace uopscope
