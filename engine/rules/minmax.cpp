// MAX of integers: decided by bounds or by the difference of its operands, or combined with constants. The
// minimum is written -max(-x, -y), so the same rules apply to it.
#include "engine/rules/families.h"
#include "engine/rules/interval.h"
#include "engine/rules/variables.h"

namespace uopscope::rules {

namespace {

UOp maxByBounds(Match& m) {
  UOp a = m[x], b = m[y];
  bool unsignedTop = a.dtype().kind() == Scalar::UInt64;
  if (a.vmin() >= b.vmax() && !(unsignedTop && b.vmax() == INT64_MAX)) return a;
  if (b.vmin() >= a.vmax() && !(unsignedTop && a.vmax() == INT64_MAX)) return b;
  if (!isScalarIndex(m.root())) return m.decline("the bounds overlap");
  Linear difference = linearOf(UOp::make(Op::SUB, dtypes::index, {a, b}));
  Interval d = intervalOf(difference);
  if (d.lo >= 0) return a;
  return d.hi <= 0 ? b : m.decline("the bounds of the difference include 0");
}

constexpr RuleDef kMinmaxRules[] = {
    RULE("max-by-bounds", pat::op(Op::MAX, xn, yn), maxByBounds),
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
