// Steps that move elements: views, windows, indices.
#pragma once
#include "tests/fuzz/program.h"

#include <fmt/format.h>

namespace uopscope::fuzz {

inline std::vector<std::optional<std::pair<Sint, Sint>>> shrinkOf(const Tensor& t, int64_t axis, Sint from,
                                                                  Sint to) {
  std::vector<std::optional<std::pair<Sint, Sint>>> bounds(static_cast<size_t>(t.ndim()));
  bounds[static_cast<size_t>(axis)] = {from, to};
  return bounds;
}

inline void movementStep(State& s) {
  const Value* v = s.pick();
  if (!v) return;
  const Tensor& a = v->tensor;
  Precision p = v->precision;
  const std::string name = nameOf(*v);
  uint32_t which = s.choose(16);
  auto rank = static_cast<size_t>(a.ndim());
  int64_t axis = s.axisOf(a), size = rank ? a.intShape()[static_cast<size_t>(axis)] : 1;
  uint32_t n = s.number();
  auto push = [&](const Tensor& t, const std::string& text) { s.push(t, p, text); };
  if (which == 0)
    return push(a.unsqueeze(static_cast<int64_t>(n % (rank + 1))),
                fmt::format("{}.unsqueeze({})", name, n % (rank + 1)));
  if (which == 1) { // a reshape that moves a factor from one dimension to the next
    Shape to;
    Ints shape = a.intShape();
    for (int64_t d : shape) {
      int64_t f = n % 2 && d % 2 == 0 && d ? 2 : n % 3 && d % 3 == 0 && d ? 3 : 1;
      if (f > 1) to.emplace_back(f);
      to.emplace_back(d / f);
    }
    return push(a.reshape(to), fmt::format("{}.reshape({})", name, shapeStr(to)));
  }
  if (!rank) return;
  switch (which) {
  case 2: return push(a.flatten(), name + ".flatten()");
  case 3: return push(a.flip({axis}), fmt::format("{}.flip({})", name, axis));
  case 4: {
    Ints order;
    for (size_t i = 0; i < rank; ++i) order.push_back(static_cast<int64_t>((i + 1 + n) % rank));
    return push(a.permute(order), fmt::format("{}.permute({})", name, fmt::join(order, ",")));
  }
  case 5: {
    Bounds amounts;
    for (size_t i = 0; i < rank; ++i, n /= 9)
      amounts.emplace_back(Sint(int64_t(n % 3)), Sint(int64_t(n / 3 % 3)));
    p = stored({p.frac, std::max(p.mag, 2.0), p.err}, a.dtype());
    ConstValue with = s.choose(2) && !a.dtype().isBool() ? ConstValue::ofInt(3) : ConstValue::ofInt(0);
    return push(a.pad(amounts, with), fmt::format("{}.pad(.., {})", name, with.i));
  }
  case 6: {
    int64_t from = size ? n % size : 0, to = from + (size ? (n / 16) % (size - from + 1) : 0);
    return push(a.shrink(shrinkOf(a, axis, from, to)),
                fmt::format("{}.shrink({}: {}..{})", name, axis, from, to));
  }
  case 7: {
    Shape to{Sint(int64_t(1 + n % 4))};
    for (const Sint& d : a.shape()) to.push_back(d);
    return push(a.unsqueeze(0).expand(to), fmt::format("{} expanded to {}", name, shapeStr(to)));
  }
  case 8: {
    constexpr int64_t kSteps[] = {2, -2, 3, -1, 4};
    std::vector<Index> index(static_cast<size_t>(axis), Index::all());
    int64_t step = kSteps[n % 5];
    index.push_back(Index::slice({}, {}, step));
    return push(a.get(index), fmt::format("{}[axis {}, ::{}]", name, axis, step));
  }
  case 9:
    return push(a.roll({static_cast<int64_t>(n % 5)}, Ints{axis}),
                fmt::format("{}.roll({}, {})", name, n % 5, axis));
  case 10: {
    Ints times(rank, 1);
    times[static_cast<size_t>(axis)] = 1 + n % 3;
    return push(a.repeat(times), fmt::format("{}.repeat({} on axis {})", name, 1 + n % 3, axis));
  }
  case 11: {
    if (rank < 2) return;
    int64_t k = static_cast<int64_t>(n % 5) - 2;
    return push(n / 8 % 2 ? a.tril(k) : a.triu(k),
                fmt::format("{}.{}({})", name, n / 8 % 2 ? "tril" : "triu", k));
  }
  case 12: {
    int64_t window = 1 + n % 3, step = 1 + n / 4 % 2;
    return size >= window ? push(a.unfold(axis, window, step),
                                 fmt::format("{}.unfold({}, {}, {})", name, axis, window, step))
                          : void();
  }
  case 13: {
    if (!size) return;
    std::vector<Index> index(static_cast<size_t>(axis), Index::all());
    index.push_back(Index::of(Sint(int64_t(n % static_cast<uint32_t>(size)))));
    return push(a.get(index), fmt::format("{}[axis {}, {}]", name, axis, n % static_cast<uint32_t>(size)));
  }
  case 14: { // less in front, more behind: a pad and a shrink at once
    Bounds amounts(rank, {Sint(0), Sint(0)});
    amounts[static_cast<size_t>(axis)] = {Sint(size > 1 ? -1 : 1), Sint(int64_t(n % 3))};
    return push(a.pad(amounts), fmt::format("{}.pad(axis {}, {}, {})", name, axis, size > 1 ? -1 : 1, n % 3));
  }
  default:
    return push(a.repeatInterleave(1 + n % 3, axis),
                fmt::format("{}.repeat_interleave({}, {})", name, 1 + n % 3, axis));
  }
}

inline void joinStep(State& s) {
  const Value* a = s.pick();
  const Value* b = a ? s.pickLike(*a) : nullptr;
  if (!b || a->tensor.shape() != b->tensor.shape()) return;
  int64_t axis = s.axisOf(a->tensor);
  std::vector<Tensor> parts{a->tensor, b->tensor.cast(a->tensor.dtype())};
  if (b->tensor.isFloat() && !a->tensor.isFloat()) parts[1] = a->tensor;
  for (uint32_t more = s.choose(3); more; --more) parts.push_back(parts[0]);
  Precision p = stored(eitherOf(a->precision, b->precision), a->tensor.dtype());
  bool stacks = a->tensor.ndim() == 0 || s.choose(3) == 0;
  s.push(stacks ? Tensor::stack(parts, axis) : Tensor::cat(parts, axis), p,
         fmt::format("{}({} x ({}, {}), {})", stacks ? "stack" : "cat", parts.size(), nameOf(*a), nameOf(*b),
                     axis));
}

/// Indices into an axis, from a separate leaf; some are out of order, none lies outside.
inline Tensor indexOf(State& s, const Ints& shape, int64_t size, uint32_t seed) {
  int64_t count = 1;
  for (int64_t d : shape) count *= d;
  std::vector<double> at;
  for (int64_t i = 0; i < count; ++i)
    at.push_back(static_cast<double>((seed + i * 7919 + i / 3 * seed) % size));
  TensorOptions o;
  o.device = s.device();
  o.dtype = dtypes::int32;
  return Tensor::fromDoubles(at, shape, o);
}
inline void indexStep(State& s) {
  const Value* v = s.pick();
  // A huge value would take the interpreter minutes, element by element.
  if (!v || v->tensor.ndim() == 0 || v->tensor.intNumel() > 4000) return;
  const Tensor& a = v->tensor;
  Precision p = v->precision;
  Ints shape = a.intShape();
  int64_t axis = s.axisOf(a);
  auto at = static_cast<size_t>(axis);
  uint32_t n = s.number() % 1000;
  if (shape[at] == 0) return;
  switch (s.choose(5)) {
  case 0:
    return s.push(a.gather(axis, indexOf(s, shape, shape[at], n)), p,
                  fmt::format("{}.gather({}, seed {})", nameOf(*v), axis, n));
  case 1: {
    std::vector<Index> index(at, Index::all());
    index.push_back(Index::of(indexOf(s, {3}, shape[at], n)));
    return s.push(a.get(index), p, fmt::format("{}[axis {}, tensor of seed {}]", nameOf(*v), axis, n));
  }
  case 2: {
    if (!p.exact() || a.dtype().isFloat()) return;
    Tensor small = a.cast(dtypes::int32).mod(Operand(5));
    return s.push(small.oneHot(5), {0, 1, Precision::kNone}, fmt::format("one_hot({} % 5, 5)", nameOf(*v)));
  }
  case 3: {
    if (a.dtype().isBool()) return;
    Tensor index = indexOf(s, shape, shape[at], n);
    Tensor t = a.scatterReduce(axis, index, a, "sum");
    return s.push(t, sumOfMany(p, shape[at] + 1, t.dtype()),
                  fmt::format("{}.scatter_reduce({}, seed {}, sum)", nameOf(*v), axis, n));
  }
  default: {
    if (shape.size() < 2) return;
    Tensor rows = indexOf(s, {2, 2}, std::max<int64_t>(shape[0], 1), n),
           cols = indexOf(s, {2, 2}, std::max<int64_t>(shape[1], 1), n / 3);
    if (!shape[0] || !shape[1]) return;
    return s.push(a.get({Index::of(rows), Index::of(cols)}), p,
                  fmt::format("{}[tensor, tensor of seed {}]", nameOf(*v), n));
  }
  }
}

/// The first n elements of an axis, with a variable n: they are computed on, then padded to a fixed size
/// again.
inline void symbolicStep(State& s) {
  const Value* v = s.pick();
  if (!v || v->tensor.ndim() == 0) return;
  const Tensor& a = v->tensor;
  int64_t axis = s.axisOf(a), size = a.intShape()[static_cast<size_t>(axis)];
  if (size < 2) return;
  PoolScope pool(tensorPool());
  auto value = static_cast<int64_t>(1 + s.choose(static_cast<size_t>(size)));
  UOp n = UOp::variable(fmt::format("n{}", s.step()), 1, size);
  Sint bound(UOp::make(Op::BIND, dtypes::index, {n, UOp::index(value)}));
  Tensor part = a.shrink(shrinkOf(a, axis, 0, bound));
  if (s.choose(2)) part = part + part;
  Precision p = sumOf(v->precision, v->precision, part.dtype());
  std::string text = fmt::format("first {} of {} of axis {} of {}", value, size, axis, nameOf(*v));
  switch (s.choose(3)) {
  case 0: {
    Tensor t = part.sum(std::vector<int64_t>{axis});
    return s.push(t, sumOfMany(p, size, t.dtype()), text + ", sum");
  }
  case 1: return s.push(part.max(std::vector<int64_t>{axis}), p, text + ", max");
  default: {
    Bounds back(static_cast<size_t>(a.ndim()), {Sint(0), Sint(0)});
    back[static_cast<size_t>(axis)] = {Sint(0), Sint(size) - bound};
    Tensor t = part.pad(back).reshape(a.shape());
    return s.push(t, p, text + ", padded back");
  }
  }
}

inline const std::vector<StepKind>& movementSteps() {
  static const std::vector<StepKind> kinds{{"movement", 18, movementStep},
                                           {"join", 4, joinStep},
                                           {"index", 5, indexStep},
                                           {"symbolic", 2, symbolicStep}};
  return kinds;
}

} // namespace uopscope::fuzz
