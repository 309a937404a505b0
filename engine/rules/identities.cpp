// Identities of a node with a constant, and of a node with itself.
//
// x*0 becomes 0 for floats too, as in the reference; a constant NaN or infinity is kept. rounding.h lists the
// rules that are not exact.
#include "engine/rules/families.h"
#include "engine/rules/rounding.h"
#include "engine/rules/variables.h"

#include <cmath>

namespace uopscope::rules {

namespace {

constexpr DTypeMask kIntsBool = kMaskIntsBool;
constexpr Pat xIntBool = Pat(x).withDtype(kIntsBool);

/// Whether a number times 0 is 0. Constants for which it is NaN are known to be such, and folded.
bool zeroWins(const Match& m) {
  const UOp v = laneConst(m[x]);
  return !v || v.arg().kind() != ArgKind::Float || std::isfinite(v.arg().f());
}
bool productFits(const Match& m) {
  UOp u = m[x];
  if (u.dtype().kind() == Scalar::Index) return true;
  if (u.dtype().kind() == Scalar::UInt64) return false; // vmin and vmax saturate at int64
  __int128 f = intOf(m[c0]), low = u.vmin() * f, high = u.vmax() * f;
  if (low > high) std::swap(low, high);
  return low >= dtypes::minInt(u.dtype()) && high <= static_cast<__int128>(dtypes::maxInt(u.dtype()));
}

constexpr RuleDef kIdentityRules[] = {
    RULE("add-zero", x + 0, x, kMayRound),
    RULE("sub-zero", pat::op(Op::SUB, x, 0), x),
    RULE("sub-self", pat::op(Op::SUB, xIntBool, xIntBool), 0),
    RULE("mul-one", x * 1, x),
    RULE("mul-zero", x * 0, 0, kMayRound, guard::when(zeroWins, "infinity or NaN times 0 is NaN")),
    RULE("xor-zero", xIntBool ^ 0, x),
    RULE("xor-self", x ^ x, 0),
    RULE("or-zero", xIntBool | 0, x),
    RULE("and-zero", xIntBool & 0, 0),
    RULE("and-ones", xn & -1, x),
    RULE("shl-zero", x << 0, x),
    RULE("shr-zero", x >> 0, x),
    RULE("zero-shl", pat::op(Op::SHL, 0, x), 0),
    RULE("zero-shr", pat::op(Op::SHR, 0, x), 0),
    RULE("div-self", x / x, 1),
    RULE("div-one", x / 1, x),
    RULE("div-minus-one", x / -1, x * -1, guard::isSigned(x)),
    RULE("zero-div", pat::op(OpSet{Op::IDIV, Op::MOD}, 0, x), 0),
    RULE("mul-div-same", xn* c0 / c0, x, guard::notZero(c0),
         guard::when(productFits, "the product may wrap")),
    RULE("mod-self", x % x, 0),
    RULE("mod-one", x % 1, 0),
    RULE("mod-mod-same", (x % y).named(z) % y, z),
    RULE("idempotent", pat::op(group::kIdempotent, x, x), x),
    RULE("lt-self", x < x, 0),
    RULE("ne-self", xIntBool != xIntBool, 0),
    RULE("eq-self", pat::op(Op::CMPEQ, xIntBool, xIntBool), 1),
    RULE("trunc-of-int", pat::op(Op::TRUNC, xIntBool), x),
    RULE("neg-neg", pat::op(Op::NEG, pat::op(Op::NEG, x)), x),
    RULE("bind-of-const", pat::op(Op::BIND, c0, c1), c1),
};
const KnownRules kIdentityRulesKnown(kIdentityRules);

} // namespace

Family identityRules() {
  return kIdentityRules;
}

} // namespace uopscope::rules
