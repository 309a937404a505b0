// Bounds of a floating-point expression, known at compile time: an interval, and whether the value may be NaN.
// Decompositions use them to leave out cases that cannot occur: a cosine of 2 pi times a random number in [0,
// 1) needs neither the reduction of huge arguments nor a case for infinities.
//
// Invariant: the bounds are sound for round-to-nearest, for multiplications fused with additions, and for
// reciprocals in place of divisions, which compilers of GPUs may use. Only float32 and float64 have
// bounds.
//
//   floatInterval(BITCAST(x & 0x7fffff | 0x3f800000))  ->  [1, 1.99999988]
//   floatInterval(a load)                              ->  none
//   floatBounds(WHERE(9 < x, 9, x))                    ->  [-inf, 9] or NaN
#pragma once
#include "engine/uop/uop.h"

#include <optional>

namespace uopscope {

/// Both bounds are finite. Every lane of a vector lies between them.
struct FloatInterval {
  double low, high;
  bool within(double from, double to) const { return from <= low && high <= to; }
};

/// Where a value lies that is not NaN; the bounds may be infinite. A value of which nothing is known has [-inf, inf] or NaN.
struct FloatBounds {
  double low, high;
  bool maybeNan;
};

FloatBounds floatBounds(UOp value);
/// None if the value may be NaN or infinite, if it has no bounds, or if computing them takes more than a few
/// dozen nodes.
std::optional<FloatInterval> floatInterval(UOp value);

} // namespace uopscope
