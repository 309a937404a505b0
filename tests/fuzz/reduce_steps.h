// Steps that combine elements: reductions, products, convolutions, and steps with an effect.
#pragma once
#include "tests/fuzz/arithmetic_steps.h"
#include "tests/fuzz/movement_steps.h"

namespace uopscope::fuzz {

inline void reduceStep(State& s) {
  const Value* v = s.pick();
  if (!v) return;
  const Tensor& a = v->tensor;
  Precision p = v->precision;
  Axes axes;
  int64_t over = a.intNumel(), axis = s.axisOf(a);
  if (a.ndim() && s.choose(3)) {
    axes = std::vector<int64_t>{axis};
    over = a.intShape()[static_cast<size_t>(axis)];
  }
  bool keep = s.choose(2) != 0;
  std::string of = fmt::format("({}{}{})", nameOf(*v), axes ? fmt::format(", axis {}", axis) : "",
                               keep ? ", keepdim" : "");
  auto some = static_cast<double>(std::max<int64_t>(over, 1));
  DType f = a.isFloat() ? a.dtype() : dtypes::float32;
  switch (s.choose(14)) {
  case 0:
  case 1: {
    Tensor t = a.sum(axes, keep);
    return s.push(t, sumOfMany(p, over, t.dtype()), "sum" + of);
  }
  case 2: return over ? s.push(a.max(axes, keep), p, "max" + of) : void();
  case 3: return over ? s.push(a.min(axes, keep), p, "min" + of) : void();
  case 4: {
    if (over > 12) return;
    Tensor t = a.clamp(Operand(0), Operand(2)).prod(axes, keep);
    Precision small = stored({p.frac, 1, p.err}, a.dtype());
    return s.push(t, stored({small.frac * some, some, small.err + some + std::log2(some)}, t.dtype()),
                  "prod of 0..2" + of);
  }
  case 5: {
    if (!over) return;
    Tensor t = a.mean(axes, keep);
    Precision sum = sumOfMany(p, over, t.dtype());
    return s.push(
        t,
        {60, p.mag, logSum(sum.err - std::log2(some), sum.mag - std::log2(some) - mantissa(t.dtype()) + 2)},
        "mean" + of);
  }
  case 6:
    return p.exact() ? s.push(a.ne(Operand(0)).any(axes, keep), {0, 1, Precision::kNone}, "any" + of)
                     : void();
  case 7:
    return p.exact() ? s.push(a.ne(Operand(0)).all(axes, keep), {0, 1, Precision::kNone}, "all" + of)
                     : void();
  case 8: {
    if (!over || p.mag > 12 || !a.ndim() || !a.intShape()[static_cast<size_t>(axis)]) return;
    Tensor t = a.cast(f).softmax(axis);
    return s.push(t, functionOf(stored(p, f), 2, std::max(2.0, p.mag - 2), f),
                  fmt::format("softmax({}, {})", nameOf(*v), axis));
  }
  case 9: {
    if (!over || p.mag > 12) return;
    Tensor t = a.cast(f).logsumexp(axes, keep);
    return s.push(t, functionOf(stored(p, f), 2, logSum(p.mag, 4), f), "logsumexp" + of);
  }
  case 10: {
    if (over < 2 || p.mag > 10) return;
    Tensor t = a.cast(f).var(axes, keep);
    Precision q = stored(p, f);
    return s.push(t, functionOf({60, q.mag, q.err + q.mag}, 8, 2 * q.mag + 2, f), "var" + of);
  }
  case 11: {
    if (!p.exact() || !over || a.dtype().isBool() || (!axes && a.ndim() == 0)) return;
    return s.push(axes ? a.argmax(axis, keep) : a.argmax(), {0, 20, Precision::kNone}, "argmax" + of);
  }
  case 12: {
    if (!a.ndim() || a.dtype().isBool()) return;
    Tensor t = a.cumsum(axis);
    int64_t n = a.intShape()[static_cast<size_t>(axis)];
    return s.push(t, sumOfMany(p, std::max<int64_t>(n, 1), t.dtype()),
                  fmt::format("cumsum({}, {})", nameOf(*v), axis));
  }
  default: {
    if (!a.ndim() || a.dtype().isBool() || !p.exact() || a.intNumel() > 300) return;
    return s.push(a.sort(axis, s.choose(2) != 0).first, p, fmt::format("sort({}, {})", nameOf(*v), axis));
  }
  }
}

/// A copy in which values too large for a product are reduced.
inline Tensor narrowed(const Tensor& a, Precision& p) {
  if (a.isFloat() ? p.mag <= 12 : true) return a;
  Tensor t = a.clamp(Operand(-16), Operand(16));
  p.mag = 4;
  return t;
}
inline void productStep(State& s) {
  const Value* v = s.pick();
  if (!v || v->tensor.dtype().isBool() || v->tensor.ndim() == 0) return;
  Precision p = v->precision;
  Tensor a = narrowed(v->tensor, p);
  Ints shape = a.intShape();
  uint32_t seed = s.number();
  auto weights = [&](const Ints& of) { return leafOf(s, of, a.dtype(), seed); };
  Precision w = leafPrecision(a.dtype());
  auto product = [&](const Tensor& t, int64_t n, const std::string& text) {
    Precision r = productOf(p, w, t.dtype());
    s.push(t, sumOfMany(r, std::max<int64_t>(n, 1), t.dtype()), text);
  };
  switch (s.choose(5)) {
  case 0:
    if (shape.size() < 2) return;
    w = p;
    return product(a.matmul(a.transpose(-1, -2)), shape.back(), nameOf(*v) + " @ its transpose");
  case 1: {
    constexpr int64_t kColumns[] = {1, 3, 4, 8, 17, 0};
    int64_t n = kColumns[s.choose(6)];
    return product(a.matmul(weights({shape.back(), n})), shape.back(),
                   fmt::format("{} @ leaf({}, {}; seed {})", nameOf(*v), shape.back(), n, seed));
  }
  case 2: {
    while (shape.size() < 4) shape.insert(shape.begin(), 1);
    if (shape.size() > 4) return;
    a = a.reshape(Shape(shape.begin(), shape.end()));
    int64_t k = 1 + s.choose(3), stride = 1 + s.choose(2), padding = seed % 2,
            groups = shape[1] % 2 == 0 && shape[1] && seed % 3 == 0 ? 2 : 1;
    if (shape[2] + 2 * padding < k || shape[3] + 2 * padding < k) return;
    int64_t in = shape[1] / groups;
    Tensor t = a.conv2d(weights({2 * groups, in, k, k}), {}, groups, {stride}, {1}, {padding});
    return product(t, in * k * k,
                   fmt::format("conv2d({}, leaf({}, {}, {}, {}; seed {}), groups {}, stride {}, padding {})",
                               nameOf(*v), 2 * groups, in, k, k, seed, groups, stride, padding));
  }
  case 3: {
    if (shape.size() < 2 || shape[shape.size() - 1] < 2 || shape[shape.size() - 2] < 2) return;
    int64_t stride = 1 + s.choose(2);
    return s.push(a.maxPool2d({2, 2}, {stride}).first, p,
                  fmt::format("max_pool2d({}, 2, stride {})", nameOf(*v), stride));
  }
  default: {
    if (shape.size() != 2) return;
    w = p;
    return product(Tensor::einsum("ij,ij->i", {a, a}), shape[1], "einsum(ij,ij->i, " + nameOf(*v) + ")");
  }
  }
}

/// Steps with an effect: assignment to a whole value and to a part, and boundaries of kernels.
inline void effectStep(State& s) {
  const Value* v = s.pick();
  if (!v) return;
  Precision p = v->precision;
  const Tensor& a = v->tensor;
  switch (s.choose(6)) {
  case 0: return s.push(a.contiguous(), p, nameOf(*v) + ".contiguous()");
  case 1: return s.push(a.clone().realize(), p, nameOf(*v) + ".clone().realize()");
  case 2: {
    Tensor t = a.contiguous().realize();
    if (t.dtype().isBool()) return;
    t.assign(t + t);
    return s.push(t, sumOf(p, p, t.dtype()), nameOf(*v) + " copied, assigned its double");
  }
  case 3: {
    if (!a.ndim()) return;
    Tensor t = a.contiguous().realize();
    int64_t axis = s.axisOf(a);
    t.assign(t.flip({axis}).contiguous());
    return s.push(t, p, fmt::format("{} copied, assigned its flip on axis {}", nameOf(*v), axis));
  }
  case 4: {
    if (!a.ndim() || a.intShape()[0] == 0) return;
    Tensor t = a.clone();
    t.set({Index::of(Sint(0))}, Operand(1));
    return s.push(t, stored({p.frac, std::max(p.mag, 1.0), p.err}, t.dtype()),
                  nameOf(*v) + " copied, [0] = 1");
  }
  default: {
    Tensor t = a + a.contiguous();
    return s.push(t, sumOf(p, p, t.dtype()), fmt::format("{} + its contiguous()", nameOf(*v)));
  }
  }
}

inline const std::vector<StepKind>& reduceSteps() {
  static const std::vector<StepKind> kinds{
      {"reduce", 14, reduceStep}, {"product", 5, productStep}, {"effect", 4, effectStep}};
  return kinds;
}

} // namespace uopscope::fuzz
