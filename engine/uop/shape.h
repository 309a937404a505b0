// The shape of a node of the tensor graph, from the shapes of its sources.
//
//   computeShape(reshape(buffer(24), (2, 12)))  is  (2, 12)
//
// UOp::shape() keeps the answer in the node's facts; nodes of kernels (RANGE, LOAD, INDEX into memory ...)
// have none. A shape that does not fit its sources is Error(Shape) with both shapes.
#pragma once
#include "engine/uop/facts.h"

namespace uopscope {

/// Whether two shapes are known to be the same.
bool sameShape(std::span<const Sint> a, std::span<const Sint> b);

/// A constant with the type, shape and device of a node of the tensor graph; of a node without a device, with
/// its type alone.
UOp constantLike(UOp like, ConstValue value);

} // namespace uopscope
