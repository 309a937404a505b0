// Integers and bools as floats, for functions that leave the integers: unsigned integers have no negatives, differences of
// integers wrap, and the smallest signed integer has no negative either.
//
//   Tensor y = realValues(labels);      // int32 -> float32, half stays half
#pragma once
#include "engine/tensor/tensor.h"

namespace uopscope {

inline Tensor realValues(const Tensor& x) {
  return x.cast(dtypes::leastUpperFloat(x.dtype()));
}

} // namespace uopscope
