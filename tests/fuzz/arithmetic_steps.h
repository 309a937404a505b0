// Steps of elementwise work: leaves, arithmetic, functions, casts.
#pragma once
#include "tests/fuzz/program.h"

#include <fmt/format.h>

namespace uopscope::fuzz {

constexpr DType kLeafTypes[] = {dtypes::float32, dtypes::float32, dtypes::int32,  dtypes::int8,
                                dtypes::uint8,   dtypes::int64,   dtypes::bool_,  dtypes::float16,
                                dtypes::float64, dtypes::uint32,  dtypes::uint64, dtypes::int16,
                                dtypes::uint16,  dtypes::bfloat16};

/// Multiples of 1/4 below 8 for floats, small numbers of either sign for integers; sometimes the ends of the
/// type.
inline Tensor leafOf(State& s, const Ints& shape, DType type, uint32_t seed) {
  int64_t count = 1;
  for (int64_t n : shape) count *= n;
  std::vector<double> data;
  uint64_t x = seed * 0x9E3779B97F4A7C15u + 1;
  for (int64_t i = 0; i < count; ++i) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    auto v = static_cast<double>(x >> 20 & 31);
    if (type.isFloat())
      v = type.kind() == Scalar::BFloat16 ? v - 16 : v / 4 - 4;
    else if (type.isBool())
      v = x >> 30 & 1;
    else if (!type.isUnsigned())
      v -= 15;
    if (type.isInt() && (x >> 40) % 16 == 0 && type.bitsize() <= 32)
      v = x >> 50 & 1 ? static_cast<double>(dtypes::minInt(type)) : static_cast<double>(dtypes::maxInt(type));
    data.push_back(v);
  }
  TensorOptions options;
  options.device = s.device();
  options.dtype = type;
  return Tensor::fromDoubles(data, shape, options);
}
inline Precision leafPrecision(DType type) {
  if (!type.isFloat()) return {0, double(type.isBool() ? 1 : type.bitsize()), Precision::kNone};
  return type.kind() == Scalar::BFloat16 ? Precision{0, 4, Precision::kNone}
                                         : Precision{2, 2, Precision::kNone};
}

inline void leafStep(State& s) {
  constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 1, 3, 33, 0};
  DType type = kLeafTypes[s.choose(std::size(kLeafTypes))];
  uint32_t seed = s.number(), form = s.number(), rank = s.choose(4);
  Ints shape;
  for (uint32_t i = 0; i < rank; ++i) {
    shape.push_back(kSizes[form % std::size(kSizes)]);
    form /= 13;
  }
  if (rank == 3 && form % 5 == 0) shape = {1, 3, 4, 5};
  s.push(leafOf(s, shape, type, seed), leafPrecision(type), fmt::format("leaf(seed {})", seed));
}
/// A large leaf: tens of thousands of elements, sometimes an odd number of them.
inline void hugeStep(State& s) {
  constexpr int64_t kSizes[] = {65536, 65537, 40001, 99999, 1 << 15};
  DType type = kLeafTypes[s.choose(8)];
  uint32_t seed = s.number();
  int64_t n = kSizes[s.choose(std::size(kSizes))];
  if (s.choose(3) == 0)
    s.push(leafOf(s, {n}, type, seed), leafPrecision(type), fmt::format("leaf(seed {})", seed));
}

inline void binaryStep(State& s) {
  const Value* a = s.pick();
  const Value* b = a ? s.pickLike(*a) : nullptr;
  if (!b) return;
  const Tensor &x = a->tensor, &y = b->tensor;
  Precision p = a->precision, q = b->precision;
  std::string sides = nameOf(*a) + ", " + nameOf(*b);
  switch (s.choose(8)) {
  case 0: {
    Tensor t = x + y;
    return s.push(t, sumOf(p, q, t.dtype()), "add(" + sides + ")");
  }
  case 1: {
    Tensor t = x.dtype().isBool() && y.dtype().isBool() ? x.bitXor(y) : x - y;
    return s.push(t, wrapped(sumOf(p, q, t.dtype()), t.dtype()), "sub(" + sides + ")");
  }
  case 2: {
    Tensor t = x * y;
    return s.push(t, productOf(p, q, t.dtype()), "mul(" + sides + ")");
  }
  case 3: return s.push(x.maximum(y), stored(eitherOf(p, q), x.maximum(y).dtype()), "maximum(" + sides + ")");
  case 4: return s.push(x.minimum(y), stored(eitherOf(p, q), x.minimum(y).dtype()), "minimum(" + sides + ")");
  case 5: {
    if (!p.exact() || !q.exact()) return;
    uint32_t which = s.choose(4);
    Tensor c = which == 0 ? x.lt(y) : which == 1 ? x.eq(y) : which == 2 ? x.ge(y) : x.ne(y);
    return s.push(c, {0, 1, Precision::kNone}, fmt::format("compare{}({})", which, sides));
  }
  case 6: {
    Tensor below = y.isFloat() ? y.abs() + 1 : y.bitAnd(Operand(7)).cast(dtypes::float32) + 1;
    Tensor t = x / below;
    Precision r = functionOf({0, p.mag, logSum(p.err, q.err + p.mag)}, 1, p.mag, t.dtype());
    return s.push(t, r, "div(" + nameOf(*a) + ", 1+|" + nameOf(*b) + "|)");
  }
  default: {
    if (!p.exact()) return;
    Tensor c = x.lt(Operand(2)), t = c.where(x, y);
    return s.push(t, stored(eitherOf(p, q), t.dtype()), fmt::format("where({}<2, {})", nameOf(*a), sides));
  }
  }
}

inline void unaryStep(State& s) {
  const Value* a = s.pick();
  if (!a) return;
  Tensor x = a->tensor;
  Precision p = a->precision;
  std::string of = "(" + nameOf(*a) + ")";
  uint32_t which = s.choose(24);
  if (which >= 5 && x.dtype().isInt()) x = x.mod(Operand(17)), p = {0, 5, Precision::kNone};
  if (which >= 8 && !x.isFloat()) x = x.cast(dtypes::float32);
  DType d = x.dtype();
  auto within = [&](double limit) {
    x = x.clamp(Operand(-limit), Operand(limit));
    p = stored(p, d);
    p.mag = std::min(p.mag, std::log2(limit));
    return x;
  };
  switch (which) {
  case 0: return s.push(d.isBool() ? x.logicalNot() : x.neg(), wrapped(p, d), "neg" + of);
  case 1: return s.push(x.relu(), p, "relu" + of);
  case 2: return s.push(x.abs(), p, "abs" + of);
  case 3: return p.exact() ? s.push(x.sign(), {0, 1, Precision::kNone}, "sign" + of) : void();
  case 4: return s.push(x.square(), productOf(p, p, d), "square" + of);
  case 5: return p.exact() && d.isFloat() ? s.push(x.floor(), {0, p.mag + 1, p.err}, "floor" + of) : void();
  case 6: return p.exact() && d.isFloat() ? s.push(x.round(), {0, p.mag + 1, p.err}, "round" + of) : void();
  case 7: return p.exact() && d.isFloat() ? s.push(x.trunc(), {0, p.mag, p.err}, "trunc" + of) : void();
  case 8: return s.push((x.abs() + 1).sqrt(), functionOf(p, 1, p.mag / 2 + 1, d), "sqrt of 1+abs" + of);
  case 9: return s.push(within(6).exp2(), functionOf(p, 64, 6, d), "exp2 of clamped" + of);
  case 10: return s.push((x.abs() + 1).log2(), functionOf(p, 2, 6, d), "log2 of 1+abs" + of);
  case 11: return s.push(within(30).sin(), functionOf(p, 1, 1, d), "sin of clamped" + of);
  case 12: return s.push(within(8).tanh(), functionOf(p, 1, 1, d), "tanh of clamped" + of);
  case 13: return s.push(within(8).sigmoid(), functionOf(p, 1, 1, d), "sigmoid of clamped" + of);
  case 14: return s.push(within(8).gelu(), functionOf(p, 2, 4, d), "gelu of clamped" + of);
  case 15: return s.push((x.abs() + 1).reciprocal(), functionOf(p, 1, 0, d), "reciprocal of 1+abs" + of);
  case 16: return s.push(within(4).exp(), functionOf(p, 64, 6, d), "exp of clamped" + of);
  case 17: return s.push((x.abs() + 1).log(), functionOf(p, 1, 6, d), "log of 1+abs" + of);
  case 18: return s.push(within(6).silu(), functionOf(p, 2, 3, d), "silu of clamped" + of);
  case 19: return s.push(within(6).erf(), functionOf(p, 2, 3, d), "erf of clamped" + of);
  case 20: return s.push(within(20).cos(), functionOf(p, 1, 1, d), "cos of clamped" + of);
  case 21: return s.push(within(5).softplus(), functionOf(p, 1, 6, d), "softplus of clamped" + of);
  case 22: return s.push((x.abs() + 1).rsqrt(), functionOf(p, 1, 1, d), "rsqrt of 1+abs" + of);
  default: return p.exact() ? s.push(x.isfinite(), {0, 1, Precision::kNone}, "isfinite" + of) : void();
  }
}

inline void scalarStep(State& s) {
  const Value* a = s.pick();
  if (!a) return;
  const Tensor& x = a->tensor;
  Precision p = a->precision, small{0, 3, Precision::kNone};
  int64_t c = static_cast<int64_t>(s.number() % 11) - (x.dtype().isUnsigned() || x.dtype().isBool() ? 0 : 5);
  switch (s.choose(4)) {
  case 0: {
    Tensor t = x + Operand(c);
    return s.push(t, sumOf(p, small, t.dtype()), fmt::format("{} + {}", nameOf(*a), c));
  }
  case 1: {
    Tensor t = x * Operand(c);
    return s.push(t, productOf(p, small, t.dtype()), fmt::format("{} * {}", nameOf(*a), c));
  }
  case 2: {
    Tensor t = x.sub(Operand(c), true);
    return s.push(t, wrapped(sumOf(p, small, t.dtype()), t.dtype()), fmt::format("{} - {}", c, nameOf(*a)));
  }
  default: {
    Tensor t = x.maximum(Operand(c)).minimum(Operand(c + 3));
    return s.push(t, stored({p.frac, 4, p.err}, t.dtype()),
                  fmt::format("{} clamped to {}..+3", nameOf(*a), c));
  }
  }
}

inline void castStep(State& s) {
  const Value* a = s.pick();
  if (!a) return;
  constexpr DType kTo[] = {dtypes::float32, dtypes::int32,    dtypes::int16,  dtypes::uint8,  dtypes::bool_,
                           dtypes::float16, dtypes::int64,    dtypes::int8,   dtypes::uint16, dtypes::uint32,
                           dtypes::uint64,  dtypes::bfloat16, dtypes::float64};
  DType to = kTo[s.choose(std::size(kTo))];
  Tensor x = a->tensor;
  Precision p = a->precision;
  std::string text = fmt::format("{}.cast({})", nameOf(*a), to.name());
  if (x.isFloat() && !to.isFloat()) {
    if (!p.exact()) return;
    // Hardware defines conversions out of range differently.
    if (!to.isBool()) x = x.clamp(Operand(to.isUnsigned() ? 0.0 : -100.0), Operand(100.0));
    p = {0, to.isBool() ? 1.0 : 7.0, Precision::kNone};
  }
  if (to.kind() == Scalar::Float16 && p.mag > 12) {
    if (!x.isFloat() && !x.dtype().isBool()) x = x.mod(Operand(17)), p.mag = 5;
    x = x.clamp(Operand(x.dtype().isUnsigned() ? 0 : -100), Operand(100)), p.mag = 7;
  }
  const bool hasSign = x.dtype().isInt() && !x.dtype().isUnsigned();
  s.push(x.cast(to), hasSign ? wrapped(stored(p, to), to) : stored(p, to), text);
}
inline void bitcastStep(State& s) {
  const Value* a = s.pick();
  if (!a || !a->precision.exact() || a->tensor.dtype().isBool()) return;
  constexpr DType kTo[] = {dtypes::uint8, dtypes::int16,  dtypes::uint32, dtypes::int64,
                           dtypes::int32, dtypes::uint16, dtypes::int8,   dtypes::uint64};
  DType to = kTo[s.choose(std::size(kTo))], from = a->tensor.dtype();
  int64_t last = a->tensor.ndim() ? a->tensor.intShape().back() : 0;
  if (from.itemsize() != to.itemsize() && (last * from.itemsize()) % to.itemsize()) return;
  if (from.itemsize() != to.itemsize() && a->tensor.ndim() == 0) return;
  // A sum may lose the sign of a zero (add-zero), and a bitcast would show it.
  Tensor source = from.isFloat() ? a->tensor.eq(Operand(0)).where(Operand(0), a->tensor) : a->tensor;
  s.push(source.bitcast(to), {0, double(to.bitsize()), Precision::kNone},
         fmt::format("{}.bitcast({})", nameOf(*a), to.name()));
}

inline void integerStep(State& s) {
  const Value* a = s.pick();
  const Value* b = a ? s.pickLike(*a) : nullptr;
  if (!b || !a->tensor.dtype().isInt()) return;
  const Tensor& x = a->tensor;
  Precision p{0, double(x.dtype().bitsize()), Precision::kNone};
  auto positive = static_cast<int64_t>(1 + s.number() % 9);
  Tensor y = b->tensor.isFloat() ? x : b->tensor.cast(x.dtype());
  std::string sides = nameOf(*a) + ", " + nameOf(*b);
  switch (s.choose(9)) {
  case 0: return s.push(x.idiv(y.bitAnd(Operand(15)).bitOr(Operand(1))), p, "idiv(" + sides + "&15|1)");
  case 1: return s.push(x.mod(y.bitAnd(Operand(15)).bitOr(Operand(1))), p, "mod(" + sides + "&15|1)");
  case 2: return s.push(x.idiv(Operand(positive)), p, fmt::format("idiv({}, {})", nameOf(*a), positive));
  case 3:
    return s.push(x.mod(Operand(positive)), {0, 4, Precision::kNone},
                  fmt::format("mod({}, {})", nameOf(*a), positive));
  case 4: return s.push(x.bitXor(y), p, "xor(" + sides + ")");
  case 5: return s.push(x.bitAnd(y), p, "and(" + sides + ")");
  case 6: return s.push(x.bitOr(y), p, "or(" + sides + ")");
  case 7:
    return x.dtype().isUnsigned()
               ? s.push(x.lshift(positive % 4), p, fmt::format("lshift({}, {})", nameOf(*a), positive % 4))
               : void();
  default:
    return x.dtype().isUnsigned()
               ? s.push(x.rshift(positive % 4), p, fmt::format("rshift({}, {})", nameOf(*a), positive % 4))
               : void();
  }
}

inline const std::vector<StepKind>& arithmeticSteps() {
  static const std::vector<StepKind> kinds{{"leaf", 8, leafStep},       {"huge", 1, hugeStep},
                                           {"binary", 16, binaryStep},  {"unary", 10, unaryStep},
                                           {"scalar", 6, scalarStep},   {"cast", 6, castStep},
                                           {"bitcast", 2, bitcastStep}, {"integer", 6, integerStep}};
  return kinds;
}

} // namespace uopscope::fuzz
