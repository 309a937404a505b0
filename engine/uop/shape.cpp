// Shapes of tensor operations, per operation; shape.h describes the interface.
//
// A constant, variable or bound variable without a device is a scalar that fits any shape. Rules may
// therefore multiply a tensor by a plain CONST.
#include "engine/uop/shape.h"

#include "engine/base/error.h"
#include "engine/uop/linear.h"
#include "engine/uop/unique.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

[[noreturn]] void fail(const std::string& message) {
  throw Error(ErrorKind::Shape, message);
}

Shape sourceShape(UOp u) {
  if (u.srcCount() == 0 || !u.src(0).hasShape())
    fail(fmt::format("{} needs a source with a shape; it has {}", opName(u.op()),
                     u.srcCount() ? fmt::format("{}, which has none", opName(u.src(0).op())) : "no source"));
  return u.src(0).shape();
}

Shape sourceDims(UOp u, size_t i) {
  if (u.srcCount() <= i) fail(fmt::format("{} needs its shape as source {}", opName(u.op()), i));
  return uopToShape(u.src(i));
}

bool isWeakScalar(UOp u) {
  return OpSet{Op::CONST, Op::VCONST, Op::DEFINE_VAR, Op::BIND}.has(u.op()) &&
         (u.srcCount() == 0 || !u.src(0).is(Op::DEVICE));
}

std::optional<Shape> elementwiseShape(UOp u, size_t sources) {
  std::optional<Shape> shape;
  bool allWeak = true;
  for (size_t i = 0; i < sources && i < u.srcCount(); ++i) {
    UOp s = u.src(i);
    if (isWeakScalar(s) || s.is(Op::DEVICE)) continue;
    allWeak = false;
    if (!s.hasShape()) continue;
    if (!shape) {
      shape = s.shape();
    } else if (!sameShape(*shape, s.shape())) {
      std::string all;
      for (UOp other : u.src())
        if (other.hasShape()) all += (all.empty() ? "" : ", ") + shapeStr(other.shape());
      fail(fmt::format("{} of shapes {}: they must be equal; reshape or expand one of them first",
                       opName(u.op()), all));
    }
  }
  if (!shape && allWeak && u.srcCount() && u.in(group::kElementwise)) return Shape{};
  return shape;
}

Shape reshapeShape(UOp u) {
  Shape to = sourceDims(u, 1);
  for (const Sint& s : to)
    if (s.vmax() < 0) fail(fmt::format("RESHAPE to {}: a dimension is negative", shapeStr(to)));
  if (!u.src(0).hasShape()) return to;
  const Shape& from = u.src(0).shape();
  Sint have = prod(from), want = prod(to);
  bool differ = have.isInt() && want.isInt() ? have.i() != want.i()
                                             : have.vmax() < want.vmin() || want.vmax() < have.vmin();
  if (differ)
    fail(fmt::format("RESHAPE of {} to {}: {} elements do not make {}", shapeStr(from), shapeStr(to),
                     have.str(), want.str()));
  return to;
}

Shape expandShape(UOp u) {
  Shape from = sourceShape(u), to = sourceDims(u, 1);
  bool ok = from.size() == to.size();
  for (size_t i = 0; ok && i < from.size(); ++i)
    ok =
        from[i] == to[i] || (from[i] == Sint(1) && to[i].vmin() >= 0) || (!from[i].isInt() && !to[i].isInt());
  if (!ok)
    fail(fmt::format("EXPAND of {} to {}: only dimensions of 1 expand, and the ranks must agree",
                     shapeStr(from), shapeStr(to)));
  return to;
}

Shape permuteShape(UOp u) {
  Shape from = sourceShape(u), to;
  std::vector<int64_t> order = u.arg().kind() == ArgKind::Ints ? u.arg().ints() : std::vector<int64_t>{};
  std::vector<int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool ok = sorted.size() == from.size();
  for (size_t i = 0; ok && i < sorted.size(); ++i) ok = sorted[i] == static_cast<int64_t>(i);
  if (!ok)
    fail(fmt::format("PERMUTE by {} of {}: every axis must appear once", u.arg().repr(), shapeStr(from)));
  for (int64_t i : order) to.push_back(from[static_cast<size_t>(i)]);
  return to;
}

/// The two sources of PAD and SHRINK: lists with a number per axis.
std::pair<Shape, Shape> twoLists(UOp u, const Shape& from) {
  Shape a = sourceDims(u, 1), b = sourceDims(u, 2);
  if (a.size() != from.size() || b.size() != from.size())
    fail(fmt::format("{} of {}: {} and {} must have a number for each axis", opName(u.op()), shapeStr(from),
                     shapeStr(a), shapeStr(b)));
  return {a, b};
}

Shape padShape(UOp u) {
  Shape from = sourceShape(u), to;
  auto [before, after] = twoLists(u, from);
  for (size_t i = 0; i < from.size(); ++i) {
    if (before[i].vmax() < 0 || after[i].vmax() < 0)
      fail(fmt::format("PAD of {} by {} and {}: a width is negative; use SHRINK", shapeStr(from),
                       shapeStr(before), shapeStr(after)));
    to.push_back(from[i] + before[i] + after[i]);
  }
  return to;
}

Shape shrinkShape(UOp u) {
  Shape from = sourceShape(u), to;
  auto [begin, end] = twoLists(u, from);
  for (size_t i = 0; i < from.size(); ++i) {
    Sint length = end[i] - begin[i], past = end[i] - from[i];
    if (begin[i].vmax() < 0 || length.vmax() < 0 || past.vmin() > 0)
      fail(fmt::format("SHRINK of {} from {} to {}: out of bounds in axis {}", shapeStr(from),
                       shapeStr(begin), shapeStr(end), i));
    to.push_back(length);
  }
  return to;
}

Shape flipShape(UOp u) {
  Shape from = sourceShape(u);
  if (u.arg().kind() != ArgKind::Ints || u.arg().ints().size() != from.size())
    fail(fmt::format("FLIP by {} of {}: a flag for each axis is needed", u.arg().repr(), shapeStr(from)));
  return from;
}

Shape reduceShape(UOp u) {
  Shape shape = sourceShape(u);
  const std::vector<int64_t>& axes =
      u.is(Op::WMMA) ? u.arg().as<WmmaArg>().reduceAxes : u.arg().as<ReduceArg>().axes;
  for (int64_t a : axes) {
    if (a < 0 || a >= static_cast<int64_t>(shape.size()))
      fail(fmt::format("{} over axis {} of {}: there is no such axis", opName(u.op()), a, shapeStr(shape)));
    shape[static_cast<size_t>(a)] = 1;
  }
  return shape;
}

Shape multiShape(UOp u) {
  Shape shape = sourceShape(u);
  if (u.arg().kind() != ArgKind::Int) return shape; // replicated: each device has the whole tensor
  int64_t axis = u.arg().i();
  if (axis < 0 || axis >= static_cast<int64_t>(shape.size()))
    fail(fmt::format("MULTI along axis {} of {}: there is no such axis", axis, shapeStr(shape)));
  std::string devices = u.device();
  auto shards = 1 + std::count(devices.begin(), devices.end(), ',');
  shape[static_cast<size_t>(axis)] = shape[static_cast<size_t>(axis)] * Sint(static_cast<int64_t>(shards));
  return shape;
}

std::optional<Shape> bitcastShape(UOp u) {
  auto shape = elementwiseShape(u, 1);
  int to = u.dtype().itemsize(), from = u.src(0).dtype().itemsize();
  if (!shape || to == from || shape->empty() || u.dtype().isPtr()) return shape;
  if (to == 0)
    fail(fmt::format("BITCAST of {} to {}, which has no values", shapeStr(*shape), u.dtype().name()));
  Sint bytes = shape->back() * Sint(int64_t{from});
  if (bytes.isInt() && bytes.i() % to)
    fail(fmt::format("BITCAST of {} to {}: the {} bytes of the last axis are no whole number of elements",
                     shapeStr(*shape), u.dtype().name(), bytes.i()));
  shape->back() = bytes / Sint(int64_t{to});
  return shape;
}

std::optional<Shape> indexShape(UOp u) {
  if (!u.dtype().isPtr() || !u.src(0).hasShape()) return std::nullopt;
  const Shape& shape = u.src(0).shape();
  size_t used = u.srcCount() - 1;
  if (used >= shape.size()) return std::nullopt;
  return Shape(shape.begin() + static_cast<std::ptrdiff_t>(used), shape.end());
}

} // namespace

bool sameShape(std::span<const Sint> a, std::span<const Sint> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

std::optional<Shape> computeShape(UOp u) {
  switch (u.op()) {
  case Op::CONST:
  case Op::DEFINE_VAR:
  case Op::BIND: return Shape{};
  case Op::BUFFER: return Shape{Sint(u.arg().i())};
  case Op::BUFFER_VIEW: return Shape{Sint(u.arg().ints().at(0))};
  case Op::BUFFERIZE: {
    Shape shape;
    for (UOp r : u.src().subspan(1)) shape.emplace_back(r.vmax() + 1);
    return shape;
  }
  case Op::DEFINE_GLOBAL:
  case Op::DEFINE_LOCAL:
  case Op::DEFINE_REG:
    if (!u.dtype().isPtr() || u.dtype().size() == DType::kUnsized) return std::nullopt;
    return Shape{Sint(u.dtype().size())};
  case Op::REDUCE:
  case Op::MSTACK:
  case Op::MSELECT:
  case Op::DETACH:
  case Op::CONTIGUOUS:
  case Op::CONTIGUOUS_BACKWARD:
  case Op::AFTER:
  case Op::END:
  case Op::KERNEL:
  case Op::CUSTOM_KERNEL: return u.srcCount() ? shapeOf(u.src(0)) : std::nullopt;
  case Op::INDEX: return indexShape(u);
  case Op::RESHAPE: return reshapeShape(u);
  case Op::EXPAND: return expandShape(u);
  case Op::PERMUTE: return permuteShape(u);
  case Op::PAD: return padShape(u);
  case Op::SHRINK: return shrinkShape(u);
  case Op::FLIP: return flipShape(u);
  case Op::MULTI: return multiShape(u);
  case Op::REDUCE_AXIS: return reduceShape(u);
  case Op::WMMA:
    if (!u.src(0).hasShape()) return std::nullopt;
    return reduceShape(u);
  case Op::BITCAST: return bitcastShape(u);
  case Op::ASSIGN: return elementwiseShape(u, 2);
  case Op::COPY:
  case Op::ALLREDUCE: return u.srcCount() ? elementwiseShape(u, 1) : std::nullopt;
  case Op::CAST:
  case Op::NOOP: return elementwiseShape(u, u.srcCount());
  default:
    if (u.in(group::kAlu)) return elementwiseShape(u, u.srcCount());
    return std::nullopt; // effects, and nodes of kernels
  }
}

UOp constantLike(UOp like, ConstValue value) {
  std::string device = like.device();
  UOp scalar = UOp::constant(like.dtype(), value);
  if (device.empty()) return scalar;
  UOp c = UOp::make(Op::CONST, like.dtype(), {deviceNode(device)}, scalar.arg());
  if (!like.hasShape() || like.shape().empty()) return c;
  const Shape& shape = like.shape();
  Shape ones(shape.size(), Sint(1));
  c = UOp::make(Op::RESHAPE, c.dtype(), {c, shapeToUOp(ones)});
  return shape == ones ? c : UOp::make(Op::EXPAND, c.dtype(), {c, shapeToUOp(shape)});
}

} // namespace uopscope
