// Sine and cosine by a polynomial: v = n*pi + r with |r| <= pi/2, where sin v = sin r, or -sin r for an odd n. A cosine is the sine of an
// angle a quarter of a turn ahead.
//
//   sineOf(v, multiplyAdd)     ->  sin v of any float, within 3.5 units in the last place; NaN for infinities
//   cosineOf(v, multiplyAdd)   ->  cos v, next to its zeros as well
#pragma once
#include "engine/codegen/float_words.h"

namespace uopscope {

/// sin v of float32s or float64s. Large angles take a reduction of their own, which is guarded (guarded_values.h): where every lane is
/// small, it costs a comparison.
UOp sineOf(UOp v, const floatwords::MultiplyAdd& multiplyAdd);
/// cos v, for targets that add in the order of the program.
UOp cosineOf(UOp v, const floatwords::MultiplyAdd& multiplyAdd);

} // namespace uopscope
