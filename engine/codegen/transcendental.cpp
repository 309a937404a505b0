// Transcendental functions by arithmetic: range reduction on the bits of the number, then a series on a small
// interval.
//
//   EXP2(x * 1.442695)    ->  2^n * e^(x - n*ln 2): the product is never rounded, so e^x is as accurate as 2^x
//   LOG2(1 + x)           ->  the series of x itself, not of what is left of it in the sum
//   EXP2(x * c) - 1       ->  2^n * (2^r - 1) + (2^n - 1): near 0 the result is as accurate as elsewhere, and so is 1 - EXP2(x * c)
//   1 - 2 SIN(x/2)^2      ->  the sine of x + pi/2, accurate next to its zeros: tensors write a cosine so
//
// Accuracy: float32 within about 1.5 units in the last place (sines and logarithms: 3.5), float64 within about 4. float16 and
// bfloat16 are computed as float32. Infinities, NaN, zeros and denormals give the results of the C library.
#include "engine/base/context_var.h"
#include "engine/codegen/angle_reduction.h"
#include "engine/codegen/decompositions.h"
#include "engine/codegen/exponential.h"
#include "engine/codegen/float_interval.h"
#include "engine/codegen/logarithm.h"
#include "engine/codegen/sine.h"
#include "engine/rules/variables.h"

#include <limits>

namespace uopscope {

namespace {

using namespace pat;
using namespace floatwords;
using rules::x, rules::y;
constexpr PatVar c{"c"};
constexpr double kInf = std::numeric_limits<double>::infinity(),
                 kNan = std::numeric_limits<double>::quiet_NaN();

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
/// The angle of a cosine, which tensors write as 1 - 2 sin(v/2)^2; none where twice the half might be larger than any float.
UOp angleOfCosine(const Match& m) {
  const UOp half = m[x], scale = half.is(Op::MUL) ? laneConst(half.src(1)) : UOp();
  if (!scale || !scale.arg().isNumber()) return {};
  const double by = 2 * scale.constValue().asDouble();
  const UOp v = by == 1 ? half.src(0) : mul(half.src(0), by);
  if (std::abs(by) <= 1) return v;
  const FloatBounds bounds = floatBounds(half);
  const double largest = largestSmallAngle(v);
  return -largest <= bounds.low && bounds.high <= largest ? v : UOp();
}
bool isCosine(const Match& m) {
  const Target& target = m.ctx<TargetContext>().target;
  return isLaneConst(m[y], -2) && isLaneConst(m[c], 1) && isBySeries(m[x]) && !target.mayReassociate &&
         (!isNative(target, Op::SIN) || vars::transcendental >= 2) && angleOfCosine(m);
}
UOp cosine(Match& m) {
  return cosineOf(angleOfCosine(m), multiplyAddOf(m));
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
constexpr RuleDef kJoint[] = {
    RULE("exp2-beside-1", op(Op::EXP2, x) + c, toRoot(made(exp2Less1)),
         guard::when(takes1Away, "it does not take 1 away"), kIsNearby),
    RULE("exp2-from-1", op(Op::EXP2, x) * y + c, toRoot(made(oneLessExp2)),
         guard::when(isTakenFrom1, "it is not taken from 1"), kIsNearby),
    RULE("cos-by-series", op(Op::SIN, x) * op(Op::SIN, x) * y + c, toRoot(made(cosine)),
         guard::when(isCosine, "no cosine by series")),
};
const KnownRules kJointKnown(kJoint);

} // namespace

std::span<const RuleDef> transcendentalRules() {
  return kTranscendental;
}
std::span<const RuleDef> jointFunctionRules() {
  return kJoint;
}

} // namespace uopscope
