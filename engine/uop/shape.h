// The shape of a node of the tensor graph, computed from the shapes of its sources.
//
//   computeShape(reshape(buffer(24), (2, 12)))  is  (2, 12)
//
// UOp::shape() keeps the answer in the node's facts. Nodes of kernels (RANGE, LOAD, INDEX into memory ...)
// have no shape. A shape that does not fit its sources is Error(Shape) with both shapes.
#pragma once
#include "engine/uop/facts.h"

namespace uopscope {

/// Whether two shapes are certainly the same.
bool sameShape(std::span<const Sint> a, std::span<const Sint> b);

/// A constant with the type, shape and device of a node of the tensor graph. If the node has no device, the
/// constant has its type alone.
UOp constantLike(UOp like, ConstValue value);

} // namespace uopscope
