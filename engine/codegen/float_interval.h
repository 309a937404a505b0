// What is known about the value of a floating-point expression before it is computed: an interval, and that
// it is a number. Decompositions leave out the cases that cannot occur: a cosine of 2 pi times a random number in [0,
// 1) needs neither the reduction of huge arguments nor care for infinities.
//
// Invariant: sound for round-to-nearest, for multiplications fused with additions, and for reciprocals in
// place of divisions, which compilers of GPUs may use. float32 and float64 only; anything else is unknown.
//
//   floatInterval(BITCAST(x & 0x7fffff | 0x3f800000))  ->  [1, 1.99999988]
//   floatInterval(a load)                              ->  none
#pragma once
#include "engine/uop/uop.h"

#include <optional>

namespace uopscope {

/// Both ends finite. Every lane of a vector lies within.
struct FloatInterval {
  double low, high;
  bool within(double from, double to) const { return from <= low && high <= to; }
};

/// None where the value may be NaN or infinite, where nothing bounds it, and where finding out takes more
/// than a few dozen nodes.
std::optional<FloatInterval> floatInterval(UOp value);

} // namespace uopscope
