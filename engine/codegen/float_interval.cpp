// Interval arithmetic over floats. An interval contains both the exact result and the rounded one, so it
// stays valid when the compiler fuses a product and a sum.
#include "engine/codegen/float_interval.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace uopscope {

namespace {

using Interval = std::optional<FloatInterval>;

constexpr int kMostNodes = 96; ///< visited for one answer

/// The interval of rounded results for one of exact results; none where it leaves the finite numbers.
Interval rounded(DType type, double low, double high) {
  if (!(low <= high)) return {};
  low = std::nextafter(low, -std::numeric_limits<double>::infinity());
  high = std::nextafter(high, std::numeric_limits<double>::infinity());
  if (type.kind() == Scalar::Float32) {
    constexpr double kLargest = std::numeric_limits<float>::max();
    if (low < -kLargest || high > kLargest) return {};
    low = std::min(low, static_cast<double>(static_cast<float>(low)));
    high = std::max(high, static_cast<double>(static_cast<float>(high)));
  }
  if (!std::isfinite(low) || !std::isfinite(high)) return {};
  return FloatInterval{low, high};
}

/// The same for an operation that is not correctly rounded: a few units in the last place wider.
Interval approximate(DType type, double low, double high) {
  double slack = type.kind() == Scalar::Float32 ? 0x1p-20 : 0x1p-48;
  return rounded(type, low - std::abs(low) * slack, high + std::abs(high) * slack);
}

class Finder {
public:
  Interval of(UOp u) {
    if (++looked_ > kMostNodes) return {};
    Scalar kind = u.dtype().kind();
    if (kind != Scalar::Float32 && kind != Scalar::Float64) return {};
    switch (u.op()) {
    case Op::CONST: return ofConst(u.constValue());
    case Op::VCONST: {
      Interval all;
      for (const ConstValue& v : u.arg().as<std::vector<ConstValue>>()) {
        Interval one = ofConst(v);
        if (!one) return {};
        all = all ? joined(all, one) : one;
      }
      return all;
    }
    case Op::VECTORIZE:
    case Op::CAT: return ofAll(u.src());
    case Op::GEP: return of(u.src(0));
    case Op::WHERE: return ofAll(u.src().subspan(1));
    case Op::BITCAST: return ofBits(u);
    case Op::CAST: return ofCast(u);
    default: break;
    }
    if (!u.in(group::kAlu) || u.srcCount() == 0) return {};
    Interval x = of(u.src(0)), y = u.srcCount() > 1 ? of(u.src(1)) : x;
    if (!x || !y) return {};
    if (!u.is(Op::MULACC)) return ofOperation(u.op(), u.dtype(), *x, *y);
    // The product may be rounded or exact (fused): the wider interval contains both.
    Interval product = ofOperation(Op::MUL, u.dtype(), *x, *y), z = of(u.src(2));
    return product && z ? ofOperation(Op::ADD, u.dtype(), *product, *z) : Interval();
  }

private:
  static Interval ofConst(const ConstValue& v) {
    if (v.isInvalid()) return {};
    double d = v.asDouble();
    return std::isfinite(d) ? Interval(FloatInterval{d, d}) : Interval();
  }
  static Interval joined(Interval a, Interval b) {
    if (!a || !b) return {};
    return FloatInterval{std::min(a->low, b->low), std::max(a->high, b->high)};
  }
  Interval ofAll(std::span<const UOp> values) {
    Interval all = of(values[0]);
    for (UOp v : values.subspan(1))
      if (all) all = v == values[0] ? all : joined(all, of(v));
    return all;
  }
  /// The float interval for an integer interval of bits. Floats that are not negative are ordered like their
  /// bits.
  static Interval ofBits(UOp u) {
    UOp bits = u.src(0);
    if (!bits.dtype().isInt() || u.dtype().kind() != Scalar::Float32) return {};
    int64_t low = bits.vmin(), high = bits.vmax();
    constexpr int64_t kInfinity = 0x7f800000;
    if (low < 0 || high >= kInfinity) return {};
    auto value = [](int64_t b) { return static_cast<double>(std::bit_cast<float>(static_cast<int32_t>(b))); };
    return FloatInterval{value(low), value(high)};
  }
  Interval ofCast(UOp u) {
    UOp from = u.src(0);
    if (from.dtype().isFloat()) {
      Interval x = of(from);
      return x ? rounded(u.dtype(), x->low, x->high) : Interval();
    }
    // An unknown bound of a 64-bit integer reads as the end of its type.
    if (from.dtype().itemsize() > 4) return {};
    return rounded(u.dtype(), static_cast<double>(from.vmin()), static_cast<double>(from.vmax()));
  }
  static Interval ofOperation(Op op, DType type, FloatInterval x, FloatInterval y) {
    switch (op) {
    case Op::ADD: return rounded(type, x.low + y.low, x.high + y.high);
    case Op::SUB: return rounded(type, x.low - y.high, x.high - y.low);
    case Op::NEG: return FloatInterval{-x.high, -x.low};
    case Op::MAX: return FloatInterval{std::max(x.low, y.low), std::max(x.high, y.high)};
    case Op::MUL: {
      double p[] = {x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high};
      return rounded(type, *std::min_element(p, p + 4), *std::max_element(p, p + 4));
    }
    case Op::RECIPROCAL:
      if (x.low <= 0 && x.high >= 0) return {};
      return approximate(type, 1 / x.high, 1 / x.low);
    case Op::FDIV: {
      if (y.low <= 0 && y.high >= 0) return {};
      if (!approximate(type, 1 / y.high, 1 / y.low)) return {}; // the compiler may multiply by 1 / y
      double q[] = {x.low / y.low, x.low / y.high, x.high / y.low, x.high / y.high};
      return approximate(type, *std::min_element(q, q + 4), *std::max_element(q, q + 4));
    }
    case Op::SQRT:
      if (x.low < 0) return {};
      return approximate(type, std::sqrt(x.low), std::sqrt(x.high));
    case Op::EXP2: return approximate(type, std::exp2(x.low), std::exp2(x.high));
    case Op::SIN: return approximate(type, -1, 1);
    default: return {};
    }
  }

  int looked_ = 0;
};

} // namespace

Interval floatInterval(UOp value) {
  return Finder().of(value);
}

} // namespace uopscope
