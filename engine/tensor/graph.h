// Builders of tensor-graph nodes, on bare UOps of the current pool. Tensor operations use them. A builder
// returns its source if it would change nothing, so graphs stay as small as those of the reference.
//
//   UOp x = newBuffer("CPU", dtypes::float32, 12);
//   UOp y = graph::permute(graph::reshape(x, {3, 4}), {1, 0});
#pragma once
#include "engine/base/integers.h"
#include "engine/uop/shape.h"
#include "engine/uop/sint.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace uopscope {

/// (begin, end) of each axis for shrink, (before, after) for pad.
using Bounds = std::vector<std::pair<Sint, Sint>>;

namespace graph {

/// A CONST with a DEVICE source: a tensor of shape ().
UOp constant(DType dtype, ConstValue value, const std::string& device);
/// A constant that equals no other node, so that it may be assigned and has a gradient of its own.
UOp uniqueConstant(DType dtype, ConstValue value, const std::string& device);

UOp reshape(UOp x, const Shape& shape);
UOp expand(UOp x, const Shape& shape);
/// Reshapes to the rank of `shape`, then expands.
UOp broadcastTo(UOp x, const Shape& shape);
UOp permute(UOp x, const std::vector<int64_t>& order);
UOp pad(UOp x, const Bounds& amounts);
UOp shrink(UOp x, const Bounds& bounds);
UOp flip(UOp x, const std::vector<int64_t>& axes);
/// REDUCE_AXIS over those of the axes whose length is not 1.
UOp reduceAxis(UOp x, Op op, std::vector<int64_t> axes);
UOp contiguous(UOp x);
UOp detach(UOp x);
UOp copyTo(UOp x, const std::string& device);
UOp assign(UOp target, UOp value);

/// Whether the values are in a BUFFER already, in order.
bool isRealized(UOp x);
/// The node below all movement operations.
UOp base(UOp x);
/// The node below all views: below movement operations that use each element once, and detach().
UOp viewed(UOp x);
/// Whether u is a view of x: its elements are those of x in the same memory. A PAD is no view, since it makes
/// elements, and a RESHAPE of an expanded value is none either.
bool isView(UOp u, UOp x);
/// The number of elements that a shape has room for: symbolic lengths count with their largest value. An
/// Error(Value) if it is 2^63 or more.
int64_t roomFor(const Shape& shape);
/// Whether a view shows some elements of `of` several times.
bool repeatsElements(UOp view, UOp of);
/// Whether a node is memory, now or after pending assignments.
bool isMemory(UOp x);

/// The common shape that these broadcast to; none if they do not fit.
std::optional<Shape> broadcastShape(const std::vector<Shape>& shapes);
Sint smax(const Sint& a, const Sint& b);
Sint smin(const Sint& a, const Sint& b);
/// Whether a dimension certainly equals v.
inline bool isInt(const Sint& s, int64_t v) {
  return s.isInt() && s.i() == v;
}

} // namespace graph
} // namespace uopscope
