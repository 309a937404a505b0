// Invalid marks an index that must not be accessed. It moves through arithmetic up to the access, and so does
// a gate WHERE(c, x, Invalid): (c ? x : Invalid) + 1 becomes c ? x+1 : Invalid.
//
// The value of a comparison matters only where the gates of its operands hold, so the comparison drops these
// gates.
#include "engine/rules/families.h"
#include "engine/rules/variables.h"

namespace uopscope::rules {

namespace {

constexpr OpSet kCarries = group::kBinary - group::kComparison;

constexpr Pat kGatedAs = pat::where(cond, x, kInvalid.named(w)); ///< binds the Invalid too

constexpr RuleDef kInvalidRules[] = {
    // A value of any type but index is used only where the gate holds, so a cast out of index drops the gate.
    // A cast to index is removed by a rule that keeps the gate.
    RULE("cast-gated", pat::op(Op::CAST, kGated), pat::toRoot(x), guard::unlikeRoot(x)),
    RULE("lift-gate-left", pat::op(kCarries, kGatedAs, z), pat::where(cond, pat::sameOp(x, z), w)),
    RULE("lift-gate-right", pat::op(kCarries, z, kGatedAs), pat::where(cond, pat::sameOp(z, x), w)),
    RULE("compare-gated-left", pat::op(group::kComparison, kGated, z), pat::sameOp(x, z)),
    RULE("compare-gated-right", pat::op(group::kComparison, z, kGated), pat::sameOp(z, x)),
    RULE("invalid-left", pat::op(kCarries, kInvalid.named(w), z), w),
    RULE("invalid-right", pat::op(kCarries, z, kInvalid.named(w)), w),
    RULE("gate-of-gate", pat::where(yb, kGated, kInvalid.named(w)), pat::where(yb& cond, x, w)),
    RULE("gate-of-invalid", pat::where(cond, kInvalid.named(w), kInvalid), w),
};
const KnownRules kInvalidRulesKnown(kInvalidRules);

} // namespace

Family invalidRules() {
  return kInvalidRules;
}

} // namespace uopscope::rules
