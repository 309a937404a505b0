// Interval arithmetic over floats. An interval contains both the exact result and the rounded one, so it
// stays valid when the compiler fuses a product and a sum.
#include "engine/codegen/float_interval.h"

#include "engine/base/id_map.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace uopscope {

namespace {

constexpr size_t kMostNodes = 96; ///< looked at for one answer
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr FloatBounds kAnything{-kInf, kInf, true};

/// The bounds of rounded results for those of exact results.
FloatBounds rounded(DType type, double low, double high, bool maybeNan) {
  if (!(low <= high)) return kAnything;
  low = std::nextafter(low, -kInf);
  high = std::nextafter(high, kInf);
  if (type.kind() == Scalar::Float32) {
    constexpr double kLargest = std::numeric_limits<float>::max();
    low = low < -kLargest  ? -kInf
          : low > kLargest ? kLargest
                           : std::min(low, double{static_cast<float>(low)});
    high = high > kLargest    ? kInf
           : high < -kLargest ? -kLargest
                              : std::max(high, double{static_cast<float>(high)});
  }
  return {low, high, maybeNan};
}

/// The same for an operation that is not correctly rounded: a few units in the last place wider.
FloatBounds approximate(DType type, double low, double high, bool maybeNan) {
  const double slack = type.kind() == Scalar::Float32 ? 0x1p-20 : 0x1p-48;
  auto outside = [&](double v) { return std::isfinite(v) ? std::abs(v) * slack : 0; };
  return rounded(type, low - outside(low), high + outside(high), maybeNan);
}

FloatBounds negative(FloatBounds x) {
  return {-x.high, -x.low, x.maybeNan};
}
bool isFinite(FloatBounds x) {
  return std::isfinite(x.low) && std::isfinite(x.high);
}
bool hasZero(FloatBounds x) {
  return x.low <= 0 && x.high >= 0;
}

/// The w of -w; null for anything else.
UOp negated(UOp u) {
  if (u.is(Op::NEG)) return u.src(0);
  const UOp by = u.is(Op::MUL) ? u.src(1) : UOp();
  const UOp one = by && by.is(Op::VECTORIZE) ? by.src(0) : by;
  const bool isUniform = one && (one == by || std::ranges::all_of(by.src(), [&](UOp s) { return s == one; }));
  return isUniform && one.is(Op::CONST) && one.constValue().asDouble() == -1 ? u.src(0) : UOp();
}

class Finder {
public:
  /// A polynomial reads its argument at each power: every node is looked at once.
  FloatBounds of(UOp u) {
    if (const FloatBounds* known = known_.find(u.slot())) return *known;
    if (++looked_ > kMostNodes) return kAnything;
    const FloatBounds found = looked(u);
    known_.set(u.slot(), found);
    return found;
  }

private:
  FloatBounds looked(UOp u) {
    const Scalar kind = u.dtype().kind();
    if (kind != Scalar::Float32 && kind != Scalar::Float64) return kAnything;
    switch (u.op()) {
    case Op::CONST: return ofConst(kind, u.constValue());
    case Op::VCONST: {
      const auto& values = u.arg().as<std::vector<ConstValue>>();
      FloatBounds all = ofConst(kind, values[0]);
      for (const ConstValue& v : values) all = joined(all, ofConst(kind, v));
      return all;
    }
    case Op::VECTORIZE:
    case Op::CAT: return ofAll(u.src());
    case Op::GEP: return of(u.src(0));
    case Op::WHERE: return joined(where(u, 1), where(u, 2));
    case Op::BITCAST: return ofBits(u);
    case Op::CAST: return ofCast(u);
    default: break;
    }
    if (!u.in(group::kAlu) || u.srcCount() == 0) return kAnything;
    const FloatBounds x = of(u.src(0));
    if (u.is(Op::MAX) && (negated(u.src(1)) == u.src(0) || negated(u.src(0)) == u.src(1)))
      return {0, std::max(std::abs(x.low), std::abs(x.high)), x.maybeNan};
    const FloatBounds y = u.srcCount() > 1 ? of(u.src(1)) : x;
    if (!u.is(Op::MULACC)) return ofOperation(u.op(), u.dtype(), x, y);
    // The product may be rounded or exact (fused): the wider interval contains both.
    return ofOperation(Op::ADD, u.dtype(), ofOperation(Op::MUL, u.dtype(), x, y), of(u.src(2)));
  }

  /// A kernel's constant is rounded to its type.
  static FloatBounds ofConst(Scalar kind, const ConstValue& v) {
    if (v.isInvalid() || std::isnan(v.asDouble())) return kAnything;
    const double d = kind == Scalar::Float32 ? double{static_cast<float>(v.asDouble())} : v.asDouble();
    return {d, d, false};
  }
  static FloatBounds joined(FloatBounds a, FloatBounds b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high), a.maybeNan || b.maybeNan};
  }
  FloatBounds ofAll(std::span<const UOp> values) {
    FloatBounds all = of(values[0]);
    for (UOp v : values.subspan(1))
      if (v != values[0]) all = joined(all, of(v));
    return all;
  }

  /// The bounds of what a WHERE gives on one side, where its condition says something of that value: of x in x < c ? x : c.
  FloatBounds where(UOp choice, size_t side) {
    const UOp condition = choice.src(0), value = choice.src(side), minus = negated(value);
    const UOp compared = minus ? minus : value;
    FloatBounds b = of(value);
    if (!condition.is(Op::CMPLT)) return b;
    const UOp less = condition.src(0), more = condition.src(1);
    if (compared != less && compared != more) return b;
    const FloatBounds other = of(compared == less ? more : less);
    if (minus) b = negative(b);
    if (side == 1) { // no comparison with NaN holds
      b.maybeNan = false;
      if (compared == less)
        b.high = std::min(b.high, other.high);
      else
        b.low = std::max(b.low, other.low);
    } else if (!other.maybeNan) {
      if (compared == less)
        b.low = std::max(b.low, other.low);
      else
        b.high = std::min(b.high, other.high);
    }
    return minus ? negative(b) : b;
  }

  /// The bounds for those of an integer's bits. Floats that are not negative are ordered like their bits.
  static FloatBounds ofBits(UOp u) {
    const UOp bits = u.src(0);
    if (!bits.dtype().isInt() || u.dtype().kind() != Scalar::Float32) return kAnything;
    const int64_t low = bits.vmin(), high = bits.vmax();
    constexpr int64_t kInfinity = 0x7f800000;
    if (low < 0 || high >= kInfinity) return kAnything;
    auto value = [](int64_t b) { return static_cast<double>(std::bit_cast<float>(static_cast<int32_t>(b))); };
    return {value(low), value(high), false};
  }
  FloatBounds ofCast(UOp u) {
    const UOp from = u.src(0);
    if (from.dtype().isFloat()) {
      const FloatBounds x = of(from);
      return rounded(u.dtype(), x.low, x.high, x.maybeNan);
    }
    // An unknown bound of a 64-bit integer reads as the end of its type.
    if (from.dtype().itemsize() > 4) return kAnything;
    return rounded(u.dtype(), static_cast<double>(from.vmin()), static_cast<double>(from.vmax()), false);
  }

  static FloatBounds ofSum(DType type, FloatBounds x, FloatBounds y) {
    const bool cancels = (x.high == kInf && y.low == -kInf) || (x.low == -kInf && y.high == kInf);
    const bool maybeNan = x.maybeNan || y.maybeNan || cancels;
    return cancels ? FloatBounds{-kInf, kInf, maybeNan}
                   : rounded(type, x.low + y.low, x.high + y.high, maybeNan);
  }
  static FloatBounds ofProduct(DType type, FloatBounds x, FloatBounds y) {
    // 0 times infinity is NaN; bounds of 0 and infinity stand for products of any size.
    if ((!isFinite(x) && hasZero(y)) || (!isFinite(y) && hasZero(x))) return kAnything;
    const double p[] = {x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high};
    return rounded(type, *std::min_element(p, p + 4), *std::max_element(p, p + 4), x.maybeNan || y.maybeNan);
  }
  static FloatBounds ofQuotient(DType type, FloatBounds x, FloatBounds y) {
    if (hasZero(y) || !isFinite(x) || !isFinite(y)) return kAnything;
    // The compiler may multiply by 1 / y.
    if (!isFinite(approximate(type, 1 / y.high, 1 / y.low, false))) return kAnything;
    const double q[] = {x.low / y.low, x.low / y.high, x.high / y.low, x.high / y.high};
    return approximate(type, *std::min_element(q, q + 4), *std::max_element(q, q + 4),
                       x.maybeNan || y.maybeNan);
  }
  static FloatBounds ofOperation(Op op, DType type, FloatBounds x, FloatBounds y) {
    switch (op) {
    case Op::ADD: return ofSum(type, x, y);
    case Op::SUB: return ofSum(type, x, negative(y));
    case Op::NEG: return negative(x);
    case Op::MAX:
      if (x.maybeNan || y.maybeNan) return joined(x, y);
      return {std::max(x.low, y.low), std::max(x.high, y.high), false};
    case Op::MUL: return ofProduct(type, x, y);
    case Op::RECIPROCAL: return ofQuotient(type, {1, 1, false}, x);
    case Op::FDIV: return ofQuotient(type, x, y);
    case Op::SQRT:
      if (x.low < 0) return {0, kInf, true};
      return approximate(type, std::sqrt(x.low), std::sqrt(x.high), x.maybeNan);
    case Op::EXP2: return approximate(type, std::exp2(x.low), std::exp2(x.high), x.maybeNan);
    case Op::SIN: return approximate(type, -1, 1, x.maybeNan || !isFinite(x));
    default: return kAnything;
    }
  }

  size_t looked_ = 0;
  IdMap<FloatBounds> known_;
};

} // namespace

FloatBounds floatBounds(UOp value) {
  return Finder().of(value);
}

} // namespace uopscope
