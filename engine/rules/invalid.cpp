// Invalid marks an index that must not be accessed. It passes through arithmetic to the access that asks for
// it, and a gate WHERE(c, x, Invalid) passes with it: (c ? x : Invalid) + 1 is c ? x+1 : Invalid.
//
// A comparison of a gated value is only looked at where the gate holds, so it drops the gate.
#include "engine/rules/families.h"
#include "engine/rules/variables.h"

namespace uopscope::rules {

namespace {

constexpr OpSet kCarries = group::kBinary - group::kComparison;

constexpr Pat kGatedAs = pat::where(cond, x, kInvalid.named(w)); ///< with the Invalid bound

constexpr RuleDef kInvalidRules[] = {
    // Out of index nobody asks whether the gate holds; a cast to the type it has is another rule's, and keeps
    // it.
    RULE("cast-gated", pat::op(Op::CAST, kGated), pat::toRoot(x), guard::unlikeRoot(x)),
    RULE("lift-gate-left", pat::op(kCarries, kGatedAs, z), pat::where(cond, pat::sameOp(x, z), w)),
    RULE("lift-gate-right", pat::op(kCarries, z, kGatedAs), pat::where(cond, pat::sameOp(z, x), w)),
    RULE("compare-gated-left", pat::op(group::kComparison, kGated, z), pat::sameOp(x, z)),
    RULE("compare-gated-right", pat::op(group::kComparison, z, kGated), pat::sameOp(z, x)),
    RULE("invalid-left", pat::op(kCarries, kInvalid.named(w), z), w),
    RULE("invalid-right", pat::op(kCarries, z, kInvalid.named(w)), w),
    RULE("gate-of-gate", pat::where(yb, kGated, kInvalid.named(w)), pat::where(cond& yb, x, w)),
    RULE("gate-of-invalid", pat::where(cond, kInvalid.named(w), kInvalid), w),
};

} // namespace

Family invalidRules() {
  return kInvalidRules;
}

} // namespace uopscope::rules
