// MAX of integers: decided by bounds or by the difference of its operands, or combined with constants. The
// minimum is written -max(-x, -y), so the same rules apply to it.
#include "engine/rules/families.h"
#include "engine/rules/interval.h"
#include "engine/rules/variables.h"

namespace uopscope::rules {

namespace {

bool isNeverLess(const Match& m) {
  const UOp a = m[x], b = m[y];
  const bool mayPassTop = a.dtype().kind() == Scalar::UInt64 && b.vmax() == INT64_MAX;
  if (a.vmin() >= b.vmax() && !mayPassTop) return true;
  return isScalarIndex(m.root()) && intervalOf(linearOf(UOp::make(Op::SUB, dtypes::index, {a, b}))).lo >= 0;
}

constexpr RuleDef kMinmaxRules[] = {
    RULE("max-by-bounds", pat::max(xn, yn), x, guard::when(isNeverLess, "the bounds overlap")),
    RULE("max-consts", pat::max(pat::max(xn, c0), c1), pat::max(x, pat::fold(pat::max(c0, c1)))),
    RULE("max-const-out", pat::op(Op::MAX, pat::op(Op::MAX, xn, c0), y), pat::max(pat::max(x, y), c0),
         guard::notConst(y)),
    RULE("max-const-last", pat::op(Op::MAX, c0, xn), pat::max(x, c0), guard::notConst(x)),
    RULE("max-again", pat::max(pat::max(xn, y), x), pat::max(x, y)),
};
const KnownRules kMinmaxRulesKnown(kMinmaxRules);

} // namespace

Family minmaxRules() {
  return kMinmaxRules;
}

} // namespace uopscope::rules
