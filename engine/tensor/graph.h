// Builders of tensor-graph nodes, on bare UOps of the current pool. Tensor operations are made of them.
// Each gives its source back where it would change nothing, so graphs stay as small as the reference's.
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

/// (begin, end) of an axis in shrink, (before, after) in pad.
using Bounds = std::vector<std::pair<Sint, Sint>>;

namespace graph {

/// CONST with a DEVICE source: a tensor of shape ().
UOp constant(DType dtype, ConstValue value, const std::string& device);
/// The same, unlike any other constant, so that it may be assigned to and has a gradient of its own.
UOp uniqueConstant(DType dtype, ConstValue value, const std::string& device);

UOp reshape(UOp x, const Shape& shape);
UOp expand(UOp x, const Shape& shape);
/// reshape to the rank of `shape` and expand.
UOp broadcastTo(UOp x, const Shape& shape);
UOp permute(UOp x, const std::vector<int64_t>& order);
UOp pad(UOp x, const Bounds& amounts);
UOp shrink(UOp x, const Bounds& bounds);
UOp flip(UOp x, const std::vector<int64_t>& axes);
/// REDUCE_AXIS over those axes whose length is not 1.
UOp reduceAxis(UOp x, Op op, std::vector<int64_t> axes);
UOp contiguous(UOp x);
UOp detach(UOp x);
UOp copyTo(UOp x, const std::string& device);
UOp assign(UOp target, UOp value);

/// Whether the values lie in a BUFFER already, in order.
bool isRealized(UOp x);
/// The node below all movement operations.
UOp base(UOp x);
/// The node below all views: movement operations that reach each element once, and detach().
UOp viewed(UOp x);
/// Whether u is a view of x: elements of x's memory, each where it lies. Padding makes elements, and so does
/// a reshape of an expanded value.
bool isView(UOp u, UOp x);
/// Whether a node is memory, now or once assignments that are pending are made.
bool isMemory(UOp x);

/// Shapes that broadcast to a common one; nothing where they do not.
std::optional<Shape> broadcastShape(const std::vector<Shape>& shapes);
Sint smax(const Sint& a, const Sint& b);
Sint smin(const Sint& a, const Sint& b);
/// Whether a dimension is known to be a number equal to v.
inline bool isInt(const Sint& s, int64_t v) {
  return s.isInt() && s.i() == v;
}

} // namespace graph
} // namespace uopscope
