// Powers by constants, and identities of floats that keep all bits. A few identities (x/x is 1) keep the
// value only where it is finite, as in the reference.
#include "engine/rules/families.h"
#include "engine/rules/rounding.h"
#include "engine/rules/variables.h"

#include <cmath>

namespace uopscope::rules {

namespace {

constexpr int kMostProducts = 64; ///< x**n becomes products up to this n

/// Whether a multiplication by it is exact.
bool isPowerOfTwo(double v) {
  int exponent = 0;
  return std::isfinite(v) && std::fabs(std::frexp(v, &exponent)) == 0.5 && std::abs(exponent) < 64;
}
bool isFloatConst(UOp u) {
  return u && u.isConst() && u.arg().kind() == ArgKind::Float;
}

UOp wholePower(UOp base, int64_t n) {
  UOp result, square = base;
  for (; n; n >>= 1, square = n ? square * square : square)
    if (n & 1) result = result ? result * square : square;
  return result;
}

UOp powerOfConst(Match& m) {
  if (!m[c0].arg().isNumber() || m[c0].isInvalidConst()) return m.decline("the exponent is no number");
  UOp base = m[x];
  double n = m[c0].arg().number();
  if (n == 0) return base.constLike(int64_t{1});
  if (std::fabs(n) > kMostProducts || n * 2 != std::floor(n * 2))
    return m.decline("the exponent is too large or no half");
  bool isFloat = base.dtype().isFloat();
  if (n < 0) {
    if (!isFloat) return m.decline("an integer to a negative power");
    return base.alu(Op::RECIPROCAL).alu(Op::POW, {UOp::constant(m[c0].dtype(), -n)});
  }
  if (n != std::floor(n)) {
    if (!isFloat) return m.decline("an integer to a broken power");
    UOp root = base.alu(Op::SQRT);
    return n == 0.5 ? root : wholePower(base, static_cast<int64_t>(n)) * root;
  }
  return wholePower(base, static_cast<int64_t>(n));
}
UOp constToPower(Match& m) {
  if (!isFloatConst(m[c0])) return m.decline("the base is no float");
  double base = m[c0].arg().f();
  if (base == 1) return m[c0];
  if (!(base > 0) || std::isinf(base)) return m.decline("the base is not a finite positive number");
  UOp scaled = base == 2 ? m[x] : m[x] * UOp::constant(m[x].dtype(), std::log2(base));
  return scaled.alu(Op::EXP2);
}

/// (x*a)*b becomes x*(a*b) if a or b is a power of two: the product then still rounds once.
bool mergeIsExact(const Match& m) {
  return isFloatConst(m[c0]) && isFloatConst(m[c1]) &&
         (isPowerOfTwo(m[c0].arg().f()) || isPowerOfTwo(m[c1].arg().f()));
}
bool factorIsPowerOfTwo(const Match& m) {
  return isFloatConst(m[c0]) && isPowerOfTwo(m[c0].arg().f());
}

/// Whether a number cancels against itself. Constants that do not, 0, infinities and NaN, are known to be such.
bool cancels(UOp u) {
  const UOp c = laneConst(u);
  return !c || !c.dtype().scalar().isFloat() || (std::isfinite(c.arg().f()) && c.arg().f() != 0);
}
bool xCancels(const Match& m) {
  return cancels(m[x]);
}
bool yCancels(const Match& m) {
  return cancels(m[y]);
}

constexpr RuleDef kPowerRules[] = {
    RULE("pow-const", pat::op(Op::POW, x, c0), powerOfConst, kMayRound),
    RULE("const-pow", pat::op(Op::POW, c0, xf), constToPower, kMayRound),
};
const KnownRules kPowerRulesKnown(kPowerRules);

constexpr Pat kExp = pat::op(Op::EXP2, x), kOneMore = kExp + 1,
              kSigmoidOfMinus = pat::oneOf(pat::recip(kOneMore), pat::op(Op::FDIV, 1, kOneMore)),
              kSigmoid = pat::recip(pat::op(Op::EXP2, x * -1) + 1);

constexpr RuleDef kExactFloatRules[] = {
    RULE("fdiv-self", pat::op(Op::FDIV, x, x), 1, kMayRound,
         guard::when(xCancels, "a constant 0, infinity or NaN does not cancel")),
    RULE("mul-reciprocal", xf* pat::recip(x), 1, kMayRound,
         guard::when(xCancels, "a constant 0, infinity or NaN does not cancel")),
    RULE("fdiv-one", pat::op(Op::FDIV, x, 1), x),
    RULE("mul-fdiv-same", pat::op(Op::FDIV, xf* y, y), x, kMayRound,
         guard::when(yCancels, "a constant 0, infinity or NaN does not cancel")),
    RULE("mul-mul-reciprocal", (xf * y) * pat::recip(y), x, kMayRound,
         guard::when(yCancels, "a constant 0, infinity or NaN does not cancel")),
    RULE("div-div", (xf * pat::recip(y)) * pat::recip(z), x* pat::recip(y* z), guard::different(y, z),
         kMayRound),
    RULE("float-add-self", xf + x, x * 2),
    RULE("float-mul-consts", (xf * c0) * c1, x* pat::fold(c0* c1), kMayRound,
         guard::when(mergeIsExact, "no factor is a power of two: the product would round twice")),
    RULE("reciprocal-of-multiple", pat::recip(xf* c0), pat::recip(x) * pat::fold(pat::recip(c0)), kMayRound,
         guard::when(factorIsPowerOfTwo, "the factor is no power of two")),
    RULE("exp-over-one-more", pat::oneOf(kExp* kSigmoidOfMinus, pat::op(Op::FDIV, kExp, kOneMore)), kSigmoid,
         kMayRound),
    RULE("exp-over-one-more-times", kExp*(kSigmoidOfMinus* y), kSigmoid* y, kMayRound),
    RULE("exp-over-one-more-times-two", kExp*((kSigmoidOfMinus * y) * z), (kSigmoid * y) * z, kMayRound),
    RULE("exp-over-one-more-plus", kExp*(kSigmoidOfMinus + y), kSigmoid + kExp * y, kMayRound),
    RULE("float-max-consts", pat::max(pat::max(xf, c0), c1), pat::max(x, pat::fold(pat::max(c0, c1)))),
};
const KnownRules kExactFloatRulesKnown(kExactFloatRules);

constexpr double kTwo32 = 4294967296.0;
constexpr DTypeMask kU32 = maskOf(dtypes::uint32), kU64 = maskOf(dtypes::uint64);
constexpr Pat xHigh = Pat(x).withDtype(kU64),
              yLow = pat::op(Op::CAST, Pat(y).withDtype(kU32)).withDtype(kU64);
constexpr Pat kJoined = (xHigh * kTwo32) | yLow, kJoinedShift = (xHigh << 32) | yLow;

constexpr Guard kHighFits = guard::atMost(x, 0xFFFFFFFF);

constexpr RuleDef kRandomRules[] = {
    RULE("low-half", pat::op(Op::CAST, xHigh & 4294967295.0).withDtype(kU32), pat::toRoot(x)),
    RULE("low-of-joined", pat::op(Op::CAST, pat::oneOf(kJoined, kJoinedShift)).withDtype(kU32), y),
    RULE("high-of-joined-div", kJoined / kTwo32, x, kHighFits),
    RULE("high-of-joined-shift", kJoinedShift >> 32, x, kHighFits),
};
const KnownRules kRandomRulesKnown(kRandomRules);

} // namespace

Family powerRules() {
  return kPowerRules;
}
Family exactFloatRules() {
  return kExactFloatRules;
}
Family randomRules() {
  return kRandomRules;
}

} // namespace uopscope::rules
