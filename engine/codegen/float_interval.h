// Bounds of a floating-point expression, known at compile time: an interval, and whether the value may be NaN.
// Decompositions use them to leave out cases that cannot occur: a cosine of 2 pi times a random number in [0,
// 1) needs neither the reduction of huge arguments nor a case for infinities.
//
// Invariant: the bounds are sound for round-to-nearest, for multiplications fused with additions, and for
// reciprocals in place of divisions, which compilers of GPUs may use. Only float32 and float64 have
// bounds.
//
//   floatBounds(BITCAST(x & 0x7fffff | 0x3f800000))  ->  [1, 1.99999988]
//   floatBounds(a load)                              ->  [-inf, inf] or NaN
//   floatBounds(WHERE(9 < x, 9, x))                  ->  [-inf, 9] or NaN
#pragma once
#include "engine/uop/uop.h"

namespace uopscope {

/// Where every lane of a value lies that is not NaN; the bounds may be infinite.
struct FloatBounds {
  double low, high;
  bool maybeNan;
};

/// [-inf, inf] or NaN for a value of which nothing is known, or whose bounds take more than a few dozen nodes.
FloatBounds floatBounds(UOp value);

} // namespace uopscope
