// Sorting by a bitonic network: log2(n) stages of exchanges, each an elementwise operation on the whole axis.
// NaN is larger than any number. Each exchange keeps or swaps a pair, so the gradient of a result is the
// gradient of the one element it came from.
#include "engine/tensor/tensor.h"

#include <fmt/format.h>

#include <cmath>

namespace uopscope {

namespace {
int64_t bitLength(int64_t v) {
  int64_t bits = 0;
  for (; v; v >>= 1) ++bits;
  return bits;
}
/// Whether the second element of a pair belongs before the first.
Tensor isSwapped(const Tensor& a, const Tensor& b) {
  Tensor less = b.lt(a);
  return a.isFloat() ? less.bitOr(a.ne(a)) : less;
}
/// Integers that are equal for equal values in the order of the sort, in which all NaNs are equal.
Tensor orderKey(const Tensor& x) {
  if (!x.isFloat()) return x;
  int64_t bytes = x.dtype().itemsize();
  DType bits = bytes == 1   ? dtypes::int8
               : bytes == 2 ? dtypes::int16
               : bytes == 4 ? dtypes::int32
                            : dtypes::int64;
  Tensor v = x.detach(), isZero = v.eq(0);
  return v.ne(v).where(ConstValue::ofInt(static_cast<int64_t>(dtypes::maxInt(bits))),
                       isZero.where(0, v.bitcast(bits)));
}
} // namespace

std::pair<Tensor, Tensor> Tensor::sort(int64_t dim, bool descending) const {
  OperationScope op("sort");
  int64_t d = resolveDim(dim), n = ndim() ? intShape()[static_cast<size_t>(d)] : 1;
  if (n <= 1) return {*this, fullLike(ConstValue::ofInt(0), {{}, dtypes::defaultInt(), {}})};
  // Computed once, since positions are found by comparing values with themselves.
  Tensor source = contiguous();
  int64_t stages = bitLength(n - 1), full = int64_t{1} << stages;
  Bounds grow(shape().size(), {0, 0});
  grow[static_cast<size_t>(d)] = {0, Sint(full - n)};
  ConstValue last = descending ? dtypeMin(dtype()) : isFloat() ? ConstValue::ofFloat(NAN) : dtypeMax(dtype());
  Tensor x = source.pad(grow, last).unflatten(d, Shape(static_cast<size_t>(stages), Sint(2)));
  for (int64_t stage = 1; stage <= stages; ++stage) {
    int64_t crossover = d + stages - stage - 1;
    Ints flips;
    for (int64_t i = 1; i <= stage + ndim() - d; ++i) flips.push_back(-i);
    auto mirror = [&](const Tensor& t) { // reverses the second half of each pair of blocks
      auto halves = t.splitEvery(1, crossover);
      return cat({halves[0], halves[1].flip(flips)}, crossover);
    };
    if (stage != stages) x = mirror(x).contiguous();
    for (int64_t sub = stage - 1; sub >= 0; --sub) {
      int64_t partner = d + stages - sub - 1;
      auto pair = x.splitEvery(1, partner);
      Tensor swapped = isSwapped(pair[0], pair[1]);
      Tensor larger = swapped.where(pair[0], pair[1]), smaller = swapped.where(pair[1], pair[0]);
      x = (descending ? cat({larger, smaller}, partner) : cat({smaller, larger}, partner)).contiguous();
    }
    if (stage != stages) x = mirror(x);
  }
  std::vector<std::optional<Sint>> cut(shape().begin(), shape().end());
  x = x.flatten(d, d + stages - 1).shrinkTo(cut);
  // The source of a value: the k-th of equal values in the result is the k-th of them in the source.
  Shape square{Sint(n), Sint(n)}, column(shape().size(), Sint(1));
  square.insert(square.end(), static_cast<size_t>(ndim() - d - 1), Sint(1));
  square.insert(square.begin(), static_cast<size_t>(d), Sint(1));
  column[static_cast<size_t>(d)] = n;
  Tensor lower = ones({Sint(n), Sint(n)}, {device(), dtypes::bool_, {}}).tril().reshape(square);
  auto occurrence = [&](const Tensor& t) {
    return lower.bitAnd(t.unsqueeze(d).eq(t.unsqueeze(d + 1))).sum(Ints{d + 1});
  };
  Tensor from = orderKey(source), to = orderKey(x);
  Tensor same = from.unsqueeze(d + 1)
                    .eq(to.unsqueeze(d))
                    .bitAnd(occurrence(from).unsqueeze(d + 1).eq(occurrence(to).unsqueeze(d)));
  Tensor position = arange(n, {device(), {}, {}}).reshape(column);
  return {x, same.mul(position.unsqueeze(d + 1)).sum(Ints{d})};
}

std::pair<Tensor, Tensor> Tensor::topk(int64_t k, int64_t dim, bool largest) const {
  OperationScope op("topk");
  int64_t d = resolveDim(dim);
  if (k > intShape()[static_cast<size_t>(d)])
    fail(ErrorKind::Value, fmt::format("selected index k={} is out of range", k));
  auto [values, positions] = sort(d, largest);
  std::vector<std::optional<Sint>> cut(shape().size());
  cut[static_cast<size_t>(d)] = Sint(k);
  return {values.shrinkTo(cut), positions.shrinkTo(cut)};
}

} // namespace uopscope
