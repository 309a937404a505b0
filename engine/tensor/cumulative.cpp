// Running sums, products and extremes along an axis: each element is the reduction of all elements up to it.
//
//   Tensor({1, 2, 3}).cumsum()            {1, 3, 6}
//   Tensor({1, 3, 2}).cummax()            {1, 3, 3}, found at {0, 1, 1}
//
// A long axis is split in parts of 256. Each part is summed by itself and then increased by the total of the
// parts before it, so the parts run in parallel; many totals are summed in the same way. A processor carries a sum from element to element
// (engine/codegen/running.h); it needs no parts if there are further axes for its threads and lanes.
#include "engine/base/engine_session.h"
#include "engine/runtime/device.h"
#include "engine/tensor/gradient.h"
#include "engine/tensor/graph.h"
#include "engine/tensor/recurrence.h"
#include "engine/tensor/tensor.h"
#include "engine/uop/unique.h"

#include <algorithm>

namespace uopscope {

namespace {

ConstValue identityOf(Op op, DType d) {
  if (op == Op::MAX) return dtypeMin(d);
  double v = op == Op::MUL ? 1 : 0;
  return d.isFloat() ? ConstValue::ofFloat(v) : ConstValue::ofInt(static_cast<int64_t>(v));
}

} // namespace

Tensor Tensor::cumulate(int64_t axis, Op op) const {
  axis = resolveDim(axis);
  if (ndim() == 0) return *this;
  int64_t n = intDim(static_cast<size_t>(axis));
  // Rows are made from the last to the first: so the gradient adds from the end, in the order of a loop that carries it.
  Tensor upTo = full({Sint(n)}, ConstValue::ofBool(true), {device(), dtypes::bool_, false})
                    .pad({{0, Sint(n - 1)}})
                    .pool({n}, {1}, {1});
  Tensor x = transpose(axis, -1);
  Shape wide = x.shape();
  wide.insert(wide.end() - 1, Sint(n));
  Tensor terms =
      upTo.where(x.unsqueeze(-2).expand(wide), scalar(identityOf(op, dtype()), {device(), dtype(), false}))
          .flip({-2});
  Tensor result = op == Op::ADD   ? terms.sum(Ints{-1})
                  : op == Op::MAX ? terms.max(Ints{-1})
                                  : terms.prod(Ints{-1});
  return result.transpose(axis, -1);
}

namespace {

/// The elements before each one along the last axis; `first` comes before the first one.
Tensor shifted(const Tensor& t, ConstValue first) {
  Bounds amounts(t.shape().size(), {0, 0});
  amounts.back() = {1, -1};
  return t.pad(amounts, first);
}

/// Runs along the last axis: each part of it by itself, then each element together with the total of the parts before its own.
template <class Scan, class Join>
Tensor inParts(const Tensor& x, int64_t part, ConstValue identity, Scan scan, Join join) {
  constexpr int64_t kMany = 256, kShared = 32; // parts, which lanes and threads share without a rest
  const int64_t n = x.intDim(x.shape().size() - 1);
  Bounds amounts(x.shape().size(), {0, 0});
  amounts.back() = {Sint(roundUp(n, n > kMany * part ? part * kShared : part) - n), 0};
  Tensor parts = scan(x.pad(amounts, identity).unflatten(-1, {Sint(-1), Sint(part)}));
  std::vector<std::optional<std::pair<Sint, Sint>>> last(parts.shape().size());
  last.back() = {Sint(part - 1), Sint(part)};
  Tensor totals = scan(parts.shrink(last).squeeze(-1));
  Tensor before = shifted(totals, identity).unsqueeze(-1).expand(parts.shape());
  auto fix = [&](const Tensor& t) {
    Tensor flat = t.flatten(-2);
    std::vector<std::optional<std::pair<Sint, Sint>>> tail(flat.shape().size());
    tail.back() = {flat.shape().back() - Sint(n), flat.shape().back()};
    return flat.shrink(tail);
  };
  return join(fix(parts), fix(before));
}

bool isEmpty(const Tensor& x) {
  return std::ranges::any_of(x.shape(), [](const Sint& s) { return graph::isInt(s, 0); });
}

} // namespace

Tensor Tensor::splitCumulate(int64_t axis, Op op) const {
  constexpr int64_t kPart = 256, kRows = 16;
  constexpr int64_t kTotals = 4096; // that a processor adds up in one loop in the time of two launches
  axis = resolveDim(axis);
  if (ndim() == 0 || isEmpty(*this)) return *this;
  if (const Sint bound = shape()[static_cast<size_t>(axis)];
      !bound.isInt()) { // what comes after it changes nothing before
    Bounds more(shape().size(), {0, 0});
    std::vector<std::optional<std::pair<Sint, Sint>>> there(shape().size());
    more[static_cast<size_t>(axis)] = {0, Sint(bound.vmax()) - bound};
    there[static_cast<size_t>(axis)] = {0, bound};
    return pad(more).splitCumulate(axis, op).shrink(there);
  }
  int64_t n = intDim(static_cast<size_t>(axis)), rows = 1;
  for (size_t i = 0; i < shape().size(); ++i)
    if (static_cast<int64_t>(i) != axis) rows *= shape()[i].vmax();
  const bool carries = !Device::get(devices()[0]).renderer().target().hasLocal;
  if (n <= kPart * 2 || (rows >= kRows && carries)) return cumulate(axis, op);
  return inParts(
             transpose(axis, -1), kPart, identityOf(op, dtype()),
             [&](const Tensor& x) {
               const bool areFew = x.intDim(x.shape().size() - 1) <= (carries ? kTotals : kPart);
               return areFew ? x.cumulate(-1, op) : x.splitCumulate(-1, op);
             },
             [&](const Tensor& a, const Tensor& b) {
               return op == Op::ADD ? a.add(b) : op == Op::MAX ? a.maximum(b) : a.mul(b);
             })
      .transpose(axis, -1);
}

Tensor Tensor::cumsum(int64_t axis) const {
  OperationScope op("cumsum");
  return splitCumulate(axis, Op::ADD);
}

namespace {

constexpr int64_t kFewSteps = 16; ///< up to here every element is differentiated by every other

Tensor isNan(const Tensor& t) {
  return t.ne(t);
}

/// y[i] = x[i] y[i-1], so dy[i] = x[i] dy[i-1] + y[i-1] dx[i].
UOp tangentOfProducts(const std::vector<UOp>& tangents, UOp node) {
  if (!tangents[0]) return {};
  // Stored, since a loop that carries the product stores nothing else.
  Tensor x = Tensor::fromUOp(node.src(1)), y = Tensor::fromUOp(node).contiguous();
  return linearRecurrence(x, Tensor::fromUOp(tangents[0]).mul(shifted(y, ConstValue::ofFloat(1)))).uop();
}

/// The mean of the tangents of all elements up to here that are the maximum.
UOp tangentOfMaxima(const std::vector<UOp>& tangents, UOp node) {
  if (!tangents[0]) return {};
  // The running maximum is computed again where its rows lie side by side: that takes less than to turn it round.
  Tensor x = asRecurrencesRead(Tensor::fromUOp(node.src(1)).detach());
  Tensor y = goesAlongFirst(x) ? asRecurrencesRead(x.cummax(-1).first.detach())
                               : Tensor::fromUOp(node).detach().contiguous();
  Tensor before = shifted(y, ConstValue::ofFloat(0)), t = Tensor::fromUOp(tangents[0]);
  Tensor isLargest = x.eq(y).bitOr(isNan(x).bitAnd(isNan(y)));
  Tensor isBehind =
      shifted(y.fullLike(ConstValue::ofBool(true), {{}, dtypes::bool_, {}}), ConstValue::ofBool(false));
  Tensor goesOn = y.eq(before).bitOr(isNan(y).bitAnd(isNan(before))).bitAnd(isBehind);
  Tensor zero = t.fullLike(ConstValue::ofFloat(0));
  return segmentSums(goesOn, isLargest.where(t, zero))
      .div(segmentSums(goesOn, isLargest.cast(t.dtype())))
      .uop();
}

struct RunningKeys {
  RunningKeys() { tensorPool(); } // makes the pool of these nodes first, so it outlives them
  UOpRef products, maxima;
};

using Tangent = UOp (*)(const std::vector<UOp>&, UOp);

/// Running values of `x` along an axis, with a tangent in linear work.
Tensor differentiated(const Tensor& running, const Tensor& x, int64_t axis, UOpRef RunningKeys::* which,
                      Tangent tangent) {
  if (!x.isFloat() || x.ndim() == 0 || isEmpty(x)) return running;
  if (const Sint n = x.shape()[static_cast<size_t>(axis)]; !n.isInt() || n.i() <= kFewSteps) return running;
  UOpRef& key = EngineSession::current().part<RunningKeys>().*which;
  if (!key.get()) {
    key = newUnique();
    setCustomDerivative(key, {.reverse = {}, .forward = tangent});
  }
  std::vector<UOp> inputs{x.transpose(axis, -1).uop()};
  UOp value = withDerivative(running.transpose(axis, -1).uop(), inputs, key);
  return Tensor::fromUOp(value, x.requiresGrad()).transpose(axis, -1);
}

} // namespace

Tensor Tensor::cumprod(int64_t axis) const {
  OperationScope op("cumprod");
  axis = resolveDim(axis);
  return differentiated(splitCumulate(axis, Op::MUL), *this, axis, &RunningKeys::products, tangentOfProducts);
}
std::pair<Tensor, Tensor> Tensor::cummax(int64_t axis) const {
  OperationScope op("cummax");
  axis = resolveDim(axis);
  Tensor largest =
      differentiated(splitCumulate(axis, Op::MAX), *this, axis, &RunningKeys::maxima, tangentOfMaxima);
  TensorOptions plain{device(), {}, false};
  if (ndim() == 0 || isEmpty(*this)) return {largest, zeros(shape(), {device(), dtypes::int32, false})};
  // An element above all before it is a new maximum; the largest place of these so far is the place of the maximum.
  Tensor x = transpose(axis, -1), now = largest.transpose(axis, -1);
  int64_t n = x.intDim(x.shape().size() - 1);
  Tensor before = shifted(now, dtypeMin(dtype())), isNew = x.gt(before);
  if (isFloat())
    isNew = isNew.bitOr(
        isNan(x).bitAnd(before.eq(before))); // a NaN equals nothing, and is the maximum from then on
  TensorOptions counting = plain;
  counting.dtype = dtypes::int32;
  Tensor places = isNew.where(Tensor::arange(n, counting), scalar(ConstValue::ofInt(0), counting));
  return {largest, places.splitCumulate(-1, Op::MAX).transpose(-1, axis)};
}
std::pair<Tensor, Tensor> Tensor::cummin(int64_t axis) const {
  OperationScope op("cummin");
  auto [largest, where] = inverse().cummax(axis);
  return {largest.inverse(), where};
}
Tensor Tensor::logSums() const {
  constexpr int64_t kFew = 64,
                    kPart = 8; // n * n exponentials for n elements, or n * kPart and two more for each
  const int64_t n = intDim(shape().size() - 1);
  if (n > kFew)
    return inParts(
        *this, kPart, dtypeMin(dtype()), [](const Tensor& x) { return x.logSums(); },
        [](const Tensor& a, const Tensor& b) { return a.logaddexp(b); });
  Shape wide = shape();
  wide.insert(wide.end() - 1, Sint(n));
  Tensor running = cumulate(-1, Op::MAX).detach().finiteOrZero();
  Tensor upTo = ones({Sint(n), Sint(n)}, {device(), dtypes::bool_, false}).tril();
  Tensor low = scalar(dtypeMin(dtype()), {device(), dtype(), false});
  Tensor terms = upTo.where(unsqueeze(-2).expand(wide).sub(running.unsqueeze(-1)), low).exp();
  return terms.sum(Ints{-1}).log().add(running);
}

Tensor Tensor::logcumsumexp(int64_t axis) const {
  OperationScope op("logcumsumexp");
  if (ndim() == 0) return *this;
  axis = resolveDim(axis);
  Tensor x = cast(dtypes::leastUpperFloat(dtype())).transpose(axis, -1);
  return (isEmpty(x) ? x : x.logSums()).transpose(axis, -1);
}

} // namespace uopscope
