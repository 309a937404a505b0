// WHERE: constant conditions, equal branches, nested WHEREs of the same condition, arithmetic on WHEREs.
#include "engine/rules/families.h"
#include "engine/rules/variables.h"

namespace uopscope::rules {

namespace {

constexpr PatVar t0{"t0"}, t1{"t1"}, f0{"f0"}, f1{"f1"};

bool bothConst(UOp a, UOp b) {
  return laneConst(a) && laneConst(b) && !a.isInvalidConst() && !b.isInvalidConst();
}

bool onePairIsConst(const Match& m) {
  return bothConst(m[t0], m[t1]) || bothConst(m[f0], m[f1]);
}
bool branchesAreConst(const Match& m) {
  return laneConst(m[c0]) && bothConst(m[t0], m[f0]);
}

constexpr Pat kWhere0 = pat::where(cond, t0, f0), kWhere1 = pat::where(cond, t1, f1);
constexpr Guard kOnePairIsConst = guard::when(onePairIsConst, "no pair of branches is constant"),
                kBranchesAreConst = guard::when(branchesAreConst, "a branch is no constant");
constexpr OpSet kJoinable = group::kBinary - OpSet{Op::THREEFRY, Op::POW};

constexpr RuleDef kSimpleWhereRules[] = {
    RULE("where-same-branches", pat::where(cond, x, x), x),
    RULE("where-true", pat::where(true, x, y), x),
    RULE("where-false", pat::where(false, x, y), y),
    RULE("where-true-false", pat::where(xb, true, false).withDtype(kMaskBool), x),
    RULE("where-false-true", pat::where(xb, false, true).withDtype(kMaskBool), pat::logicalNot(x)),
    RULE("where-where-else", pat::where(x, pat::where(y, z, w), w), pat::where(x& y, z, w)),
    RULE("where-else-where", pat::where(x, z, pat::where(y, z, w)), pat::where(x | y, z, w)),
    RULE("where-where-then", pat::where(x, pat::where(y, w, z), w), pat::where(x& pat::logicalNot(y), z, w)),
    RULE("where-same-cond-then", pat::where(x, pat::where(x, y, z), w), pat::where(x, y, w)),
    RULE("where-same-cond-else", pat::where(x, y, pat::where(x, z, w)), pat::where(x, y, w)),
};
const KnownRules kSimpleWhereRulesKnown(kSimpleWhereRules);

constexpr RuleDef kWhereRules[] = {
    // A gate keeps its negated condition, so that gates have one form: Invalid comes last.
    RULE("where-not", pat::where(pat::logicalNot(cond), x, y), pat::where(cond, y, x), guard::notInvalid(y)),
    RULE("where-bool-or", pat::where(xb, true, yb), x | y),
    RULE("where-bool-and", pat::where(xb, yb, false), x& y),
    // Two WHEREs become one if a branch of the result is then a constant.
    RULE("alu-of-wheres", pat::op(kJoinable, kWhere0, kWhere1),
         pat::where(cond, pat::sameOp(t0, t1), pat::sameOp(f0, f1)), kOnePairIsConst),
    RULE("sum-of-wheres", ((y + kWhere0) + kWhere1).withDtype(kMaskIntsBool),
         y + pat::where(cond, t0 + t1, f0 + f1), kOnePairIsConst),
    // A constant is combined with two constant branches.
    RULE("where-const-left", pat::op(kJoinable, kWhere0, c0),
         pat::where(cond, pat::sameOp(t0, c0), pat::sameOp(f0, c0)), kBranchesAreConst),
    RULE("where-const-right", pat::op(kJoinable, c0, kWhere0),
         pat::where(cond, pat::sameOp(c0, t0), pat::sameOp(c0, f0)), kBranchesAreConst),
};
const KnownRules kWhereRulesKnown(kWhereRules);

} // namespace

Family simpleWhereRules() {
  return kSimpleWhereRules;
}
Family whereRules() {
  return kWhereRules;
}

} // namespace uopscope::rules
