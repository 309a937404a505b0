// Nodes of the tensor graph, and checks whose errors name the misfit.
#include "engine/tensor/graph.h"

#include "engine/rules/algebra.h"
#include "engine/tensor/operation_scope.h"
#include "engine/uop/unique.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace uopscope::graph {

namespace {

UOp movement(Op op, UOp x, std::initializer_list<Shape> shapes) {
  std::vector<UOp> src{x};
  for (const Shape& s : shapes) src.push_back(shapeToUOp(s));
  return UOp::make(op, x.dtype(), src);
}

} // namespace

UOp constant(DType dtype, ConstValue value, const std::string& deviceName) {
  return UOp::make(Op::CONST, dtype, {deviceNode(deviceName)}, UOp::constant(dtype, value).arg());
}

UOp uniqueConstant(DType dtype, ConstValue value, const std::string& deviceName) {
  return UOp::make(Op::CONST, dtype, {deviceNode(deviceName), newUnique()},
                   UOp::constant(dtype, value).arg());
}

UOp reshape(UOp x, const Shape& asked) {
  const Shape& from = x.shape();
  const Shape shape = allInt(asked) ? asked : simplify(asked);
  if (from == shape) return x;
  for (const Sint& s : shape)
    if (s.isInt() && s.i() < 0)
      fail(ErrorKind::Shape, fmt::format("shape can't contain negative numbers {}", shapeStr(shape)));
  Sint have = prod(from), want = prod(shape);
  if (!(have == want || simplify(have - want) == Sint(0)))
    fail(ErrorKind::Shape,
         fmt::format("size mismatch, can't reshape {} -> {}", shapeStr(from), shapeStr(shape)));
  return movement(Op::RESHAPE, x, {shape});
}

UOp expand(UOp x, const Shape& shape) {
  const Shape& from = x.shape();
  if (from == shape) return x;
  bool fits = from.size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = from[i] == shape[i] || (isInt(from[i], 1) && shape[i].vmin() >= 0);
  if (!fits) fail(ErrorKind::Shape, fmt::format("cannot expand {} to {}", shapeStr(from), shapeStr(shape)));
  return movement(Op::EXPAND, x, {shape});
}

UOp broadcastTo(UOp x, const Shape& shape) {
  const Shape& from = x.shape();
  if (from == shape) return x;
  if (from.size() > shape.size())
    fail(ErrorKind::Shape,
         fmt::format("cannot broadcast tensor to fewer dimensions. shape={} to new_shape={}", shapeStr(from),
                     shapeStr(shape)));
  Shape aligned(shape.size() - from.size(), Sint(1));
  aligned.insert(aligned.end(), from.begin(), from.end());
  for (size_t i = 0; i < shape.size(); ++i)
    if (!(aligned[i] == shape[i]) && !isInt(aligned[i], 1))
      fail(ErrorKind::Shape,
           fmt::format("cannot broadcast {} to new_shape={}", shapeStr(from), shapeStr(shape)));
  return expand(reshape(x, aligned), shape);
}

UOp permute(UOp x, const std::vector<int64_t>& order) {
  std::vector<int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<int64_t>(i) || sorted.size() != x.shape().size())
      fail(ErrorKind::Runtime,
           fmt::format("order is not a valid permutation, getting ({})", fmt::join(order, ", ")));
  if (order == sorted) return x;
  return UOp::make(Op::PERMUTE, x.dtype(), {x}, Arg::of(order));
}

UOp pad(UOp x, const Bounds& amounts) {
  bool nothing = true;
  Shape before, after;
  for (const auto& [b, a] : amounts) {
    if (b.vmax() < 0 || a.vmax() < 0) // for a symbolic amount: negative for every value
      fail(ErrorKind::Shape, fmt::format("cannot pad {} by a negative amount", shapeStr(x.shape())));
    nothing = nothing && isInt(b, 0) && isInt(a, 0);
    before.push_back(b);
    after.push_back(a);
  }
  if (before.size() != x.shape().size())
    fail(ErrorKind::Shape, fmt::format("padding has {} axes, the tensor {} has {}", before.size(),
                                       shapeStr(x.shape()), x.shape().size()));
  return nothing ? x : movement(Op::PAD, x, {before, after});
}

UOp shrink(UOp x, const Bounds& bounds) {
  const Shape& from = x.shape();
  bool nothing = true, fits = bounds.size() == from.size();
  Shape begin, end;
  for (size_t i = 0; fits && i < from.size(); ++i) {
    const auto& [b, e] = bounds[i];
    nothing = nothing && isInt(b, 0) && e == from[i];
    if (b.isInt() && e.isInt() && from[i].isInt())
      fits = 0 <= b.i() && b.i() <= e.i() && e.i() <= from[i].i();
    begin.push_back(b);
    end.push_back(e);
  }
  if (!fits) {
    std::string text;
    for (const auto& [b, e] : bounds)
      text += fmt::format("{}({}, {})", text.empty() ? "" : ", ", b.str(), e.str());
    fail(ErrorKind::Shape, fmt::format("invalid shrink ({}) for {}", text, shapeStr(from)));
  }
  return nothing ? x : movement(Op::SHRINK, x, {begin, end});
}

namespace {

/// The axis counted from the front; -1 is the last one.
size_t axisOf(UOp x, int64_t axis, std::string_view operation) {
  const auto rank = static_cast<int64_t>(x.shape().size());
  if (axis < -rank || axis >= rank)
    fail(ErrorKind::Index,
         fmt::format("{}: axis {} is out of range for {}", operation, axis, shapeStr(x.shape())));
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

} // namespace

UOp flip(UOp x, const std::vector<int64_t>& axes) {
  if (axes.empty()) return x;
  std::vector<int64_t> flags(x.shape().size(), 0);
  for (int64_t a : axes) flags[axisOf(x, a, "flip")] = 1;
  return UOp::make(Op::FLIP, x.dtype(), {x}, Arg::of(flags));
}

UOp reduceAxis(UOp x, Op op, std::vector<int64_t> axes) {
  const Shape& shape = x.shape();
  for (int64_t& a : axes) a = static_cast<int64_t>(axisOf(x, a, "reduce"));
  std::erase_if(axes, [&](int64_t a) { return isInt(shape[static_cast<size_t>(a)], 1); });
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  if (axes.empty()) return x;
  return UOp::make(Op::REDUCE_AXIS, x.dtype(), {x}, Arg::of(ReduceArg{op, axes}));
}

UOp contiguous(UOp x) {
  if (x.is(Op::CONTIGUOUS) || isRealized(x)) return x;
  return UOp::make(Op::CONTIGUOUS, x.dtype(), {x});
}

UOp detach(UOp x) {
  return UOp::make(Op::DETACH, x.dtype(), {x});
}

UOp copyTo(UOp x, const std::string& deviceName) {
  if (x.device() == deviceName) return x;
  return UOp::make(Op::COPY, x.dtype(), {x, deviceNode(deviceName)});
}

UOp assign(UOp target, UOp value) {
  std::vector<UOp> views; // an assignment writes a view of memory, without markers
  UOp at = target;
  for (; at.in(group::kMovement) || at.is(Op::DETACH); at = at.src(0)) views.push_back(at);
  for (size_t k = views.size(); k-- > 0;) {
    if (views[k].is(Op::DETACH)) continue;
    std::vector<UOp> src(views[k].src().begin(), views[k].src().end());
    src[0] = at;
    at = views[k].withSrc(src);
  }
  target = at;
  return UOp::make(Op::ASSIGN, target.dtype(), {target, value});
}

bool isRealized(UOp x) {
  while (x.is(Op::RESHAPE)) x = x.src(0);
  if (x.is(Op::MULTI)) // shards: MULTI(MSTACK(...))
    return std::all_of(x.src(0).src().begin(), x.src(0).src().end(), isRealized);
  return x.is(Op::BUFFER);
}

UOp base(UOp x) {
  while (x.in(group::kMovement)) x = x.src(0);
  return x;
}

namespace {

/// The source of a strided view such as x[::3]. Its graph is a SHRINK to every third element of a RESHAPE of
/// a PAD that makes the length divisible; no element of the padding is left. Null for any other SHRINK.
UOp belowStride(UOp shrink) {
  UOp apart = shrink.src(0);
  if (!shrink.is(Op::SHRINK) || !apart.is(Op::RESHAPE) || !apart.src(0).is(Op::PAD)) return {};
  UOp pad = apart.src(0);
  const Shape& split = apart.shape();
  Shape begin = uopToShape(shrink.src(1)), end = uopToShape(shrink.src(2)), before = uopToShape(pad.src(1)),
        after = uopToShape(pad.src(2));
  if (split.size() != 2 * before.size()) return {};
  for (size_t k = 0; k < split.size(); ++k) {
    bool isStep = k % 2;
    if (!split[k].isInt() || !isInt(begin[k], 0) || !(end[k] == (isStep ? Sint(1) : split[k]))) return {};
    if (isStep && (!isInt(before[k / 2], 0) || !after[k / 2].isInt() || after[k / 2].i() >= split[k].i()))
      return {};
  }
  return pad.src(0);
}

/// The node that this is a view of, one step down; null if it is no view. An EXPAND is no view, since it
/// repeats elements.
UOp belowView(UOp u) {
  if (u.in({Op::RESHAPE, Op::PERMUTE, Op::FLIP, Op::DETACH})) return u.src(0);
  if (!u.is(Op::SHRINK)) return {};
  UOp strided = belowStride(u);
  return strided ? strided : u.src(0);
}

} // namespace

UOp viewed(UOp x) {
  while (UOp below = belowView(x)) x = below;
  return x;
}

bool isView(UOp u, UOp x) {
  while (u != x) {
    UOp below = belowView(u);
    if (!below && !u.is(Op::EXPAND)) return false;
    u = below ? below : u.src(0);
  }
  return true;
}

int64_t roomFor(const Shape& shape) {
  int64_t n = 1;
  for (const Sint& s : shape)
    if (__builtin_mul_overflow(n, s.vmax(), &n))
      fail(ErrorKind::Value,
           fmt::format("a shape of {} has more elements than can be counted", shapeStr(shape)));
  return n;
}

bool repeatsElements(UOp view, UOp of) {
  for (UOp u = view; u != of; u = u.src(0))
    if (u.is(Op::EXPAND) && u.shape() != u.src(0).shape()) return true;
  return false;
}

bool isMemory(UOp x) {
  if (x.is(Op::ASSIGN)) return isMemory(viewed(x.src(0)));
  if (x.is(Op::MULTI))
    return std::all_of(x.src(0).src().begin(), x.src(0).src().end(),
                       [](UOp part) { return isMemory(viewed(part)); });
  return x.in({Op::BUFFER, Op::BUFFER_VIEW, Op::AFTER});
}

Sint smax(const Sint& a, const Sint& b) {
  if (a.vmin() >= b.vmax()) return a;
  if (b.vmin() >= a.vmax()) return b;
  return Sint(a.uop().maximum(b.uop()));
}

Sint smin(const Sint& a, const Sint& b) {
  if (a.vmax() <= b.vmin()) return a;
  if (b.vmax() <= a.vmin()) return b;
  return Sint(a.uop().minimum(b.uop()));
}

std::optional<Shape> broadcastShape(const std::vector<Shape>& shapes) {
  size_t rank = 0;
  for (const Shape& s : shapes) rank = std::max(rank, s.size());
  Shape out(rank, Sint(1));
  for (const Shape& s : shapes)
    for (size_t i = 0; i < s.size(); ++i) {
      Sint& o = out[rank - s.size() + i];
      if (isInt(o, 1))
        o = s[i];
      else if (!isInt(s[i], 1) && !(s[i] == o))
        return std::nullopt;
    }
  return out;
}

} // namespace uopscope::graph
