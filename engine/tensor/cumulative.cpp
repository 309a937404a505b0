// Running sums, products and extremes along an axis: each element is the reduction of all elements up to it.
//
//   Tensor({1, 2, 3}).cumsum()            {1, 3, 6}
//   Tensor({1, 3, 2}).cummax()            {1, 3, 3}, found at {0, 1, 1}
//
// A long axis is split in parts of 256. Each part is summed by itself and then increased by the total of the
// parts before it, so the parts run in parallel. A processor carries a sum from element to element
// (engine/codegen/running.h); it needs no parts if there are further axes for its threads and lanes.
#include "engine/runtime/device.h"
#include "engine/tensor/graph.h"
#include "engine/tensor/tensor.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

ConstValue identityOf(Op op, DType d) {
  if (op == Op::MAX) return dtypeMin(d);
  double v = op == Op::MUL ? 1 : 0;
  return d.isFloat() ? ConstValue::ofFloat(v) : ConstValue::ofInt(static_cast<int64_t>(v));
}

} // namespace

Tensor Tensor::cumulate(int64_t axis, Op op, bool includeInitial) const {
  axis = resolveDim(axis);
  if (ndim() == 0) return *this;
  int64_t n = intShape()[static_cast<size_t>(axis)];
  Tensor x = transpose(axis, -1);
  Bounds amounts(x.shape().size(), {0, 0});
  amounts.back() = {Sint(n - (includeInitial ? 0 : 1)), Sint(includeInitial ? -1 : 0)};
  Tensor windows = x.pad(amounts, identityOf(op, dtype())).pool({n}, {1}, {1});
  Tensor result = op == Op::ADD   ? windows.sum(Ints{-1})
                  : op == Op::MAX ? windows.max(Ints{-1})
                                  : windows.prod(Ints{-1});
  return result.transpose(axis, -1);
}

Tensor Tensor::splitCumulate(int64_t axis, Op op) const {
  constexpr int64_t kPart = 256, kRows = 16;
  axis = resolveDim(axis);
  if (ndim() == 0) return *this;
  for (const Sint& s : shape())
    if (graph::isInt(s, 0)) return *this;
  int64_t n = intShape()[static_cast<size_t>(axis)];
  int64_t rows = 1;
  for (int64_t s : intShape()) rows *= s;
  rows /= n;
  if (n <= kPart * 2 || (rows >= kRows && !Device::get(devices()[0]).renderer().target().hasLocal))
    return cumulate(axis, op);
  Tensor x = transpose(axis, -1);
  Bounds amounts(x.shape().size(), {0, 0});
  amounts.back() = {Sint(roundUp(n, kPart) - n), 0};
  Tensor parts =
      x.pad(amounts, identityOf(op, dtype())).unflatten(-1, {Sint(-1), Sint(kPart)}).cumulate(-1, op);
  std::vector<std::optional<std::pair<Sint, Sint>>> last(parts.shape().size());
  last.back() = {Sint(kPart - 1), Sint(kPart)};
  Tensor base = parts.shrink(last).squeeze(-1).cumulate(-1, op, true);
  base = base.unsqueeze(-1).expand(parts.shape());
  auto fix = [&](const Tensor& t) {
    Tensor flat = t.flatten(-2);
    std::vector<std::optional<std::pair<Sint, Sint>>> tail(flat.shape().size());
    tail.back() = {flat.shape().back() - Sint(n), flat.shape().back()};
    return flat.shrink(tail).transpose(axis, -1);
  };
  Tensor a = fix(parts), b = fix(base);
  return op == Op::ADD ? a.add(b) : op == Op::MAX ? a.maximum(b) : a.mul(b);
}

Tensor Tensor::cumsum(int64_t axis) const {
  OperationScope op("cumsum");
  return splitCumulate(axis, Op::ADD);
}
Tensor Tensor::cumprod(int64_t axis) const {
  OperationScope op("cumprod");
  return splitCumulate(axis, Op::MUL);
}
std::pair<Tensor, Tensor> Tensor::cummax(int64_t axis) const {
  OperationScope op("cummax");
  Tensor largest = splitCumulate(axis, Op::MAX);
  TensorOptions plain{device(), {}, false};
  bool isEmpty = false;
  for (const Sint& s : shape()) isEmpty = isEmpty || graph::isInt(s, 0);
  if (ndim() == 0 || isEmpty) return {largest, zeros(shape(), {device(), dtypes::int32, false})};
  // hits[i, j]: element i is the largest of elements 0 to j; the first such element counts most.
  Tensor x = transpose(axis, -1);
  int64_t n = x.intShape().back();
  Tensor element = x.unsqueeze(-1), hits = element.eq(largest.transpose(axis, -1).unsqueeze(-2));
  if (isFloat()) hits = hits.bitOr(element.ne(element)); // a NaN equals nothing
  Tensor upTo = ones({Sint(n), Sint(n)}, plain).triu();
  Tensor down = arange(ConstValue::ofInt(n), ConstValue::ofInt(0), ConstValue::ofInt(-1), plain);
  Tensor first = hits.mul(upTo).mul(down.reshape({Sint(n), Sint(1)})).max(Ints{-2});
  return {largest, first.neg().add(ConstValue::ofInt(n)).cast(dtypes::int32).transpose(-1, axis)};
}
std::pair<Tensor, Tensor> Tensor::cummin(int64_t axis) const {
  OperationScope op("cummin");
  auto [largest, where] = inverse().cummax(axis);
  return {largest.inverse(), where};
}

} // namespace uopscope
