// Transcendental functions by arithmetic: range reduction on the bits of the number, then a series on a small
// interval.
//
//   EXP2(x * 1.442695)    ->  2^n * e^(x - n*ln 2): the product is never rounded, so e^x is as accurate as 2^x
//   LOG2(1 + x)           ->  the series of x itself, not of what is left of it in the sum
//   EXP2(x * c) - 1       ->  2^n * (2^r - 1) + (2^n - 1): near 0 the result is as accurate as elsewhere, and so is 1 - EXP2(x * c)
//
// Accuracy: float32 within about 1.5 units in the last place (sines and logarithms: 3.5), float64 within about 4. float16 and
// bfloat16 are computed as float32. Infinities, NaN, zeros and denormals give the results of the C library.
#include "engine/base/context_var.h"
#include "engine/codegen/angle_reduction.h"
#include "engine/codegen/decompositions.h"
#include "engine/codegen/float_interval.h"
#include "engine/rules/variables.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

namespace uopscope {

namespace {

using namespace pat;
using namespace floatwords;
using rules::x, rules::y;
constexpr PatVar c{"c"};
constexpr double kInf = std::numeric_limits<double>::infinity(),
                 kNan = std::numeric_limits<double>::quiet_NaN();

/// Conditions on an argument, which fold to a constant where its interval is known.
class Argument {
public:
  explicit Argument(UOp v) : v_(v), bounds_(floatBounds(v)) {}

  UOp below(double c) const {
    if (bounds_.high < c && !bounds_.maybeNan) return yes();
    return bounds_.low >= c ? no() : v_ < num(v_, c);
  }
  UOp above(double c) const {
    if (bounds_.low > c && !bounds_.maybeNan) return yes();
    return bounds_.high <= c ? no() : num(v_, c) < v_;
  }
  UOp isNot(double c) const { return bounds_.high < c || c < bounds_.low ? yes() : ne(v_, num(v_, c)); }
  /// Whether the argument is known to lie between these bounds.
  bool within(double low, double high) const {
    return !bounds_.maybeNan && low <= bounds_.low && bounds_.high <= high;
  }
  UOp yes() const { return UOp::constant(dtypes::bool_.vec(laneCount(v_)), int64_t{1}); }
  UOp no() const { return UOp::constant(dtypes::bool_.vec(laneCount(v_)), int64_t{0}); }

private:
  UOp v_;
  FloatBounds bounds_;
};
template <typename C>
UOp horner(UOp v, const C& fromHighest, const MultiplyAdd& multiplyAdd) {
  UOp sum = num(v, fromHighest[0]);
  for (size_t i = 1; i < fromHighest.size(); ++i) sum = multiplyAdd(sum, v, num(v, fromHighest[i]));
  return sum;
}

/// The c of 2^(c*v), and 1/c in two parts of one sign. Products of `high` with whole numbers that are exponents are exact.
struct Exponent {
  long double factor = 1;
  double high = 1, low = 0;
};

/// A constant of the type stands for a number that it cannot hold: 1/ln 2, which makes 2^(c*v) the natural e^v, twice that, or the
/// logarithm of a whole number, as of 10. Any other constant is taken as it is.
long double meant(double c, bool wide) {
  auto isNearest = [&](long double exact) {
    return wide ? static_cast<double>(exact) == c : static_cast<float>(exact) == static_cast<float>(c);
  };
  for (const long double e : {1 / std::numbers::ln2_v<long double>, 2 / std::numbers::ln2_v<long double>})
    if (isNearest(e)) return e;
  if (c > 17) return c;
  const long double base = std::round(std::exp2(static_cast<long double>(c)));
  if (const long double exact = std::log2(base); base >= 2 && isNearest(exact)) return exact;
  return c;
}

/// None where quotients of a range of exponents by c would not be numbers of the type.
std::optional<Exponent> exponentBy(double c, bool wide) {
  const double size = std::abs(c);
  if (!(size >= 0x1p-10 && size <= 0x1p10)) return {};
  const long double factor = std::copysign(meant(size, wide), static_cast<long double>(c));
  const int bits = wide ? 42 : 16; // beside the 11 or 8 of an exponent
  int power = 0;
  const long double fraction = std::frexp(1 / factor, &power);
  const double high = static_cast<double>(std::ldexp(std::trunc(std::ldexp(fraction, bits)), power - bits));
  return Exponent{factor, high, static_cast<double>(1 / factor - static_cast<long double>(high))};
}

/// A polynomial's coefficients in c*r as those of its powers of r, the highest first; `first` is the factor of the lowest.
std::vector<double> fallingIn(std::span<const long double> rising, long double first, long double c) {
  std::vector<double> falling(rising.size());
  for (size_t k = rising.size(); k-- > 0; first *= c)
    falling[k] = static_cast<double>(rising[rising.size() - 1 - k] * first);
  return falling;
}

/// Coefficients of 2 * 2^(c*r) for |c*r| <= 1/2, the highest first. float64: the series, sum of (c*r ln 2)^k / k!. float32: the
/// polynomial of degree 6 through (0, 1) with the least relative error, 2e-9.
std::vector<double> exp2Polynomial(bool wide, long double c) {
  std::vector<long double> rising;
  if (wide) {
    constexpr size_t kDegree = 13;
    long double term = 2;
    for (size_t k = 0; k <= kDegree; term *= std::numbers::ln2_v<long double> / static_cast<long double>(++k))
      rising.push_back(term);
  } else {
    rising = {2,
              2 * 0.6931472028550821L,
              2 * 0.24022647913626416L,
              2 * 5.550332471100308e-2L,
              2 * 9.618437357841127e-3L,
              2 * 1.3398874422188634e-3L,
              2 * 1.5353361882174425e-4L};
  }
  return fallingIn(rising, 1, c);
}

/// Coefficients of (2^(c*r) - 1) / r for |c*r| <= 1/2, the highest first. float64: the series. float32: the polynomial of degree 5 with
/// the least relative error, 1.1e-8.
std::vector<double> exp2Less1Polynomial(bool wide, long double c) {
  std::vector<long double> rising;
  if (wide) {
    constexpr size_t kDegree = 13;
    long double term = 1;
    for (size_t k = 1; k <= kDegree; ++k)
      rising.push_back(term *= std::numbers::ln2_v<long double> / static_cast<long double>(k));
  } else {
    rising = {0.69314718792669306186L,   0.24022649794962264898L,   0.055503574336426598643L,
              0.0096182374949070142723L, 0.0013390735477607873993L, 0.00015403512367553546237L};
  }
  return fallingIn(rising, c, c);
}

/// An argument v of 2^(c*v), taken apart: c*v = n + c*rest with n whole and |c*rest| <= 1/2. The last bits of `sum` are n + bias, where
/// an exponent of that bias is asked for: adding a number whose last bit is 1 rounds c*v. A zero keeps its sign in `rest`.
struct ExponentAndRest {
  UOp sum, rest;
};
ExponentAndRest takeApart(UOp v, const Exponent& by, int64_t bias, const MultiplyAdd& multiplyAdd) {
  const bool wide = isDouble(v), rises = by.factor > 0;
  const Layout l = layoutOf(v);
  const double rounder = std::ldexp(1.5, l.mantissa) + static_cast<double>(bias);
  const UOp sum = by.factor == 1 ? add(v, rounder)
                                 : multiplyAdd(v, num(v, static_cast<double>(by.factor)), num(v, rounder));
  // n, or -n where c is negative: its products with both parts of 1/c are subtracted.
  UOp whole = rises ? add(sum, -rounder) : add(mul(sum, -1), rounder);
  if (multiplyAdd.target().mayReassociate) { // the compiler would make v of the sum's difference
    int64_t start =
        wide ? std::bit_cast<int64_t>(rounder) : std::bit_cast<int32_t>(static_cast<float>(rounder));
    UOp ofSum = sum.bitcast(l.bits);
    whole = (ofSum + ofSum.constLike(-start)).cast(v.dtype());
    if (!rises) whole = mul(whole, -1);
  }
  if (by.factor == 1) return {sum, v + mul(whole, -1)};
  const UOp rest = multiplyAdd(whole, num(v, -std::abs(by.high)), v);
  return {sum, by.low == 0 ? rest : multiplyAdd(whole, num(v, -std::abs(by.low)), rest)};
}

/// The power of two whose exponent the last bits of a sum are.
UOp powerOfTwo(UOp sum) {
  const DType bits = (isDouble(sum) ? dtypes::uint64 : dtypes::uint32).vec(laneCount(sum));
  return shiftLeft(sum.bitcast(bits), layoutOf(sum).mantissa).bitcast(sum.dtype());
}

/// Conditions on the exponent c*v of 2^(c*v), which fold like those on v.
class ExponentArgument {
public:
  ExponentArgument(UOp v, const Exponent& by)
      : v_(v), arg_(v), c_(static_cast<double>(by.factor)), rises_(by.factor > 0) {}

  UOp below(double n) const { return rises_ ? arg_.below(n / c_) : arg_.above(n / c_); }
  UOp above(double n) const { return rises_ ? arg_.above(n / c_) : arg_.below(n / c_); }
  bool mayExceed(double n) const { return above(n) != arg_.no(); }
  /// v, cut to exponents from `bottom` to `top`; a NaN stays one. One cut after the other, so that processors take a maximum and a
  /// minimum.
  UOp cut(double bottom, double top) const {
    const UOp from = below(bottom).where(num(v_, bottom / c_), v_);
    if (!mayExceed(top)) return from;
    const UOp most = num(v_, top / c_);
    return (rises_ ? most < from : from < most).where(most, from);
  }

private:
  UOp v_;
  Argument arg_;
  double c_;
  bool rises_;
};

/// 2^(c*v), where c*v = n + c*r: it is 2 * 2^(c*r) * 2^(n-1). Below the normal numbers n is made larger and the result multiplied
/// down, above 2^top and below 2^bottom v is cut: to infinity, and to an exponent of no bits, which makes the power 0. A NaN stays one
/// all the way.
UOp exp2Of(UOp v, const Exponent& by, const MultiplyAdd& multiplyAdd) {
  const bool wide = isDouble(v);
  const Layout l = layoutOf(v);
  const ExponentArgument exponent(v, by);
  const double top = wide ? 1024.25 : 128.25, up = wide ? 128 : 64;
  const UOp cut = exponent.cut(1 - static_cast<double>(l.bias) - up, top);
  const UOp tiny = exponent.below(wide ? -1000 : -120);
  const auto [sum, rest] = takeApart(cut, by, l.bias - 1, multiplyAdd);
  const UOp power = powerOfTwo(tiny.where(add(sum, up), sum));
  UOp result = horner(rest, exp2Polynomial(wide, by.factor), multiplyAdd) * power;
  return tiny.where(mul(result, std::ldexp(1.0, -static_cast<int>(up))), result);
}

/// 2^(c*v) - 1 = 2^n * (2^(c*r) - 1) + (2^n - 1), where nothing cancels; `isFrom1`: 1 - 2^(c*v). The largest results are twice their
/// halves, since 2^n is infinite there. A zero keeps its sign: what is added to it is -(1 - 2^n), the negative zero. 1 - 2^0 is 0.
UOp exp2Less1Of(UOp v, const Exponent& by, bool isFrom1, const MultiplyAdd& multiplyAdd) {
  const bool wide = isDouble(v);
  const Layout l = layoutOf(v);
  const ExponentArgument exponent(v, by);
  // From the least exponent whose half is a normal number: the result is -1 long before.
  const UOp cut = exponent.cut(2 - static_cast<double>(l.bias), wide ? 1024.25 : 128.25);
  const bool isHalved = exponent.mayExceed(static_cast<double>(l.bias) - 1);
  const auto [sum, rest] = takeApart(cut, by, isHalved ? l.bias - 1 : l.bias, multiplyAdd);
  const UOp power = powerOfTwo(sum), missing = add(mul(power, -1), isHalved ? 0.5 : 1.0);
  const UOp part = horner(rest, exp2Less1Polynomial(wide, by.factor), multiplyAdd) * rest;
  const UOp result =
      isFrom1 ? multiplyAdd(mul(part, -1), power, missing) : multiplyAdd(part, power, mul(missing, -1));
  return isHalved ? mul(result, 2) : result;
}

/// log2 m = 2/ln 2 * (s + s^3/3 + s^5/5 ...), s = (m-1)/(m+1), |s| <= 1/5; `beyond` is m - 1.
UOp log2ByQuotient(UOp m, UOp beyond, const MultiplyAdd& multiplyAdd) {
  constexpr int kTerms = 12;
  constexpr double kLead = 2 / std::numbers::ln2;
  const UOp s = beyond * add(m, 1).alu(Op::RECIPROCAL), s2 = s * s;
  std::vector<double> series;
  for (int k = kTerms - 1; k >= 1; --k) series.push_back(kLead / (2 * k + 1));
  return multiplyAdd(s, num(m, kLead), horner(s2, series, multiplyAdd) * s2 * s);
}

/// The same in float32 by a polynomial, since a division takes as long as sixteen products: `beyond` in [-1/4, 1/2).
UOp log2ByPolynomial(UOp beyond, const MultiplyAdd& multiplyAdd) {
  // Through the Chebyshev points of [-1/4, 1/2]: 5e-9 of its size from log2(1 + b) / b. Highest power first, without the leading 1/ln 2.
  static constexpr std::array kCoefficients{-0.06292444802195989, 0.1490227530911221,   -0.18988062790626217,
                                            0.20925249779569718,  -0.24020918159418062, 0.28838092888826566,
                                            -0.3606725619104714,  0.48090076863947984,  -0.7213475589525331};
  // The leading coefficient in two parts keeps the last bits of a result near zero.
  constexpr double kLead = 1.4426950349774168, kHigh = static_cast<double>(static_cast<float>(kLead));
  const UOp tail =
      multiplyAdd(horner(beyond, kCoefficients, multiplyAdd), beyond, num(beyond, kLead - kHigh));
  return multiplyAdd(beyond, num(beyond, kHigh), beyond * tail);
}

/// log2 v. Where v is 1 + `more`, which may have lost places to the sum: of that number.
UOp log2Of(UOp v, UOp more, const MultiplyAdd& multiplyAdd) {
  Layout l = layoutOf(v);
  double smallest = isDouble(v) ? 0x1p-1022 : 0x1p-126, scale = isDouble(v) ? 0x1p54 : 0x1p25;
  Argument arg(v);
  UOp tiny = arg.below(smallest);
  UOp normal = tiny.where(mul(v, scale), v);
  // The exponent of normal / 0.75, which brings the mantissa into [0.75, 1.5).
  UOp bits = mul(normal, 4.0 / 3.0).bitcast(l.bits);
  // Of what is no positive number e and m are anything: the results stand below.
  UOp e = shiftDown(bits, l.mantissa) + bits.constLike(-l.bias);
  UOp m = (normal.bitcast(l.bits) + shiftLeft(e, l.mantissa) * e.constLike(-1)).bitcast(v.dtype());
  UOp exponent = tiny.where(e + e.constLike(isDouble(v) ? -54 : -25), e).cast(v.dtype());
  UOp beyond = more ? eq(e, e.constLike(0)).where(more, add(m, -1)) : add(m, -1);
  UOp result =
      (isDouble(v) ? log2ByQuotient(m, beyond, multiplyAdd) : log2ByPolynomial(beyond, multiplyAdd)) +
      exponent;
  UOp beneath = arg.isNot(0.0).where(num(v, kNan), num(v, -kInf));
  result = arg.above(0.0).where(result, beneath);
  return arg.below(kInf).where(result, v);
}

UOp sineOf(UOp v, const MultiplyAdd& multiplyAdd) {
  Argument arg(v);
  UOp finite = arg.below(kInf) & arg.above(-kInf);
  UOp negative = arg.below(0.0), safe = finite.where(v, num(v, 0.0));
  UOp size = negative.where(mul(safe, -1), safe);
  ReducedAngle r;
  double largest = largestSmallAngle(v);
  if (arg.within(-largest, largest)) {
    r = reduceSmallAngle(size, multiplyAdd);
  } else {
    UOp small = size < num(v, largest);
    ReducedAngle big = reduceAnyAngle(small.where(num(v, largest), size), multiplyAdd.target());
    r = reduceSmallAngle(small.where(size, num(v, 0.0)), multiplyAdd);
    r = {small.where(r.rest, big.rest), small.where(r.quadrant, big.quadrant)};
  }
  // The series of sin for even quadrants and of cos for odd ones, on |rest| <= pi/4.
  int terms = isDouble(v) ? 9 : 5;
  std::vector<double> sine, cosine;
  for (int k = terms - 1; k >= 0; --k) {
    sine.push_back((k % 2 ? -1 : 1) / std::tgamma(2 * k + 2));
    cosine.push_back((k % 2 ? -1 : 1) / std::tgamma(2 * k + 1));
  }
  UOp square = r.rest * r.rest;
  UOp odd = ne(r.quadrant & r.quadrant.constLike(1), r.quadrant.constLike(0));
  UOp flip = ne(r.quadrant & r.quadrant.constLike(2), r.quadrant.constLike(0));
  UOp result = odd.where(horner(square, cosine, multiplyAdd), horner(square, sine, multiplyAdd) * r.rest);
  result = ne(flip, negative).where(mul(result, -1), result);
  return finite.where(arg.isNot(0.0).where(result, v), num(v, kNan));
}

/// POW as in C: 1 to any power and any base to the power 0 are 1, even for NaN. The sign of -0 and of -inf
/// counts for odd exponents. Infinite exponents, and those too large to have a fraction, are even.
UOp powerOf(UOp base, UOp exponent) {
  UOp zero = num(base, 0.0), one = num(base, 1.0), below = base < zero;
  UOp size = below.where(mul(base, -1), base);
  UOp result = eq(size, one).where(one, (size.alu(Op::LOG2) * exponent).alu(Op::EXP2));
  UOp half = mul(exponent, 0.5), isWhole = eq(exponent.alu(Op::TRUNC), exponent);
  UOp isOdd = isWhole & ne(half.alu(Op::TRUNC), half);
  UOp negative = below | (eq(base, zero) & (base.alu(Op::RECIPROCAL) < zero));
  UOp withSign = (isOdd & negative).where(mul(result, -1), result);
  UOp hasNone = below & (num(base, -kInf) < base) & ne(isWhole, isWhole.constLike(int64_t{1}));
  return eq(exponent, zero).where(one, hasNone.where(num(base, kNan), withSign));
}

// --- rules ---

bool isBySeries(UOp v) {
  return isDouble(v) || v.dtype().kind() == Scalar::Float32;
}
bool isComputed(const Match& m) {
  return !isNative(m.ctx<TargetContext>().target, m.root().op()) || vars::transcendental >= 2;
}
MultiplyAdd multiplyAddOf(const Match& m) {
  return MultiplyAdd(m.ctx<TargetContext>().target);
}
template <typename F>
UOp decompose(Match& m, F f) {
  UOp root = m.root(), v = m[x];
  if (isBySeries(v)) return f(v, multiplyAddOf(m));
  if (!v.dtype().isFloat()) return {};
  return v.cast(dtypes::float32.vec(laneCount(v))).alu(root.op()).cast(root.dtype());
}
UOp exp2Rule(Match& m) {
  return decompose(m, [](UOp v, const MultiplyAdd& by) { return exp2Of(v, {}, by); });
}
UOp scaledExp2Rule(Match& m) {
  if (!isBySeries(m[x])) return m.decline("a small float is computed as a float32");
  const UOp scale = laneConst(m[c]);
  if (!scale || !scale.arg().isNumber()) return m.decline("no constant factor");
  const auto by = exponentBy(scale.constValue().asDouble(), isDouble(m[x]));
  return by ? exp2Of(m[x], *by, multiplyAddOf(m)) : m.decline("a factor far from 1");
}
bool isLaneConst(UOp u, double number) {
  const UOp value = laneConst(u);
  return value && value.isConst(number);
}
bool takes1Away(const Match& m) {
  return isLaneConst(m[c], -1) && m.root().dtype().isFloat();
}
bool isTakenFrom1(const Match& m) {
  return isLaneConst(m[c], 1) && isLaneConst(m[y], -1) && m.root().dtype().isFloat();
}
/// The v and c of a power 2^(c*v); none where c is far from 1.
std::optional<std::pair<UOp, Exponent>> powerIn(UOp argument) {
  const UOp scale = argument.is(Op::MUL) ? laneConst(argument.src(1)) : UOp();
  if (!scale || !scale.arg().isNumber()) return {{argument, {}}};
  const auto by = exponentBy(scale.constValue().asDouble(), isDouble(argument));
  if (!by) return {};
  return {{argument.src(0), *by}};
}
bool isNearby(const Match& m) {
  return powerIn(m[x]).has_value();
}
/// Rewritten before the power itself, on the way down. A small float is computed as a float32.
UOp besideOne(const Match& m, bool isFrom1) {
  const auto [v, by] = *powerIn(m[x]);
  const UOp wide = isBySeries(v) ? v : v.cast(dtypes::float32.vec(laneCount(v)));
  return exp2Less1Of(wide, by, isFrom1, multiplyAddOf(m));
}
UOp exp2Less1(Match& m) {
  return besideOne(m, false);
}
UOp oneLessExp2(Match& m) {
  return besideOne(m, true);
}
UOp log2Rule(Match& m) {
  return decompose(m, [](UOp v, const MultiplyAdd& by) { return log2Of(v, {}, by); });
}
UOp logBesideOne(Match& m) {
  if (!isBySeries(m[x])) return m.decline("a small float is computed as a float32");
  if (const UOp one = laneConst(m[c]); !one || !one.isConst(1)) return m.decline("the other term is not 1");
  const UOp sum = m.root().src(0);
  return log2Of(sum, sum.is(Op::SUB) ? mul(m[x], -1) : m[x], multiplyAddOf(m));
}
UOp sinRule(Match& m) {
  return decompose(m, sineOf);
}
UOp powRule(Match& m) {
  return isNative(m.ctx<TargetContext>().target, Op::POW) || !m[x].dtype().isFloat() ? UOp()
                                                                                     : powerOf(m[x], m[y]);
}
UOp sqrtRule(Match& m) {
  if (isNative(m.ctx<TargetContext>().target, Op::SQRT)) return {};
  return powerOf(m[x], num(m[x], 0.5));
}
bool lacksTrunc(const Match& m) {
  return !isNative(m.ctx<TargetContext>().target, Op::TRUNC);
}
/// From 2^52 (for float32: 2^23) on every value is whole already, and may not fit an integer type.
UOp wholeFrom(Match& m) {
  return num(m[x], isDouble(m[x]) ? 0x1p52 : 0x1p23);
}
UOp wholeDownFrom(Match& m) {
  return num(m[x], isDouble(m[x]) ? -0x1p52 : -0x1p23);
}

constexpr auto kIsComputed = guard::when(isComputed, "the device has the function");
constexpr RuleDef kTranscendental[] = {
    RULE("scaled-exp2-by-series", op(Op::EXP2, x* c), scaledExp2Rule, kIsComputed),
    RULE("exp2-by-series", op(Op::EXP2, x), exp2Rule, kIsComputed),
    RULE("log2-beside-1", op(Op::LOG2, oneOf(x + c, op(Op::SUB, c, x))), logBesideOne, kIsComputed),
    RULE("log2-by-series", op(Op::LOG2, x), log2Rule, kIsComputed),
    RULE("sin-by-series", op(Op::SIN, x), sinRule, kIsComputed),
    RULE("pow-by-exp2", op(Op::POW, x, y), powRule),
    RULE("sqrt-by-pow", op(Op::SQRT, x), sqrtRule),
    RULE("trunc-by-cast", op(Op::TRUNC, x),
         where(op(Op::AND, x < made(wholeFrom), made(wholeDownFrom) < x), toRoot(to(dtypes::int64, x)), x),
         guard::when(lacksTrunc, "the device truncates")),
};
const KnownRules kTranscendentalKnown(kTranscendental);
constexpr auto kIsNearby = guard::when(isNearby, "a factor far from 1");
constexpr RuleDef kBesideOne[] = {
    RULE("exp2-beside-1", op(Op::EXP2, x) + c, toRoot(made(exp2Less1)),
         guard::when(takes1Away, "it does not take 1 away"), kIsNearby),
    RULE("exp2-from-1", op(Op::EXP2, x) * y + c, toRoot(made(oneLessExp2)),
         guard::when(isTakenFrom1, "it is not taken from 1"), kIsNearby),
};
const KnownRules kBesideOneKnown(kBesideOne);

} // namespace

std::span<const RuleDef> transcendentalRules() {
  return kTranscendental;
}
std::span<const RuleDef> besideOneRules() {
  return kBesideOne;
}

} // namespace uopscope
