// Logarithms to base 2 by a series: v = 2^e * m with m in [3/4, 3/2).
//
//   log2Of(v, {}, multiplyAdd)         ->  log2 v, within 3.5 units in the last place
//   log2Of(1 + x, x, multiplyAdd)      ->  the same, where the sum has lost places of x
#pragma once
#include "engine/codegen/float_words.h"

namespace uopscope {

/// log2 v of float32s or float64s. Where v is 1 + `more`, which may have lost places to the sum: of that number; else `more` is null.
UOp log2Of(UOp v, UOp more, const floatwords::MultiplyAdd& multiplyAdd);

} // namespace uopscope
