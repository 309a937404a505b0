// WHERE: constant conditions, equal branches, nests of the same condition, arithmetic of two WHEREs.
#include "engine/rules/families.h"
#include "engine/rules/variables.h"

namespace uopscope::rules {

namespace {

constexpr PatVar t0{"t0"}, t1{"t1"}, f0{"f0"}, f1{"f1"};

bool bothConst(UOp a, UOp b) {
  return laneConst(a) && laneConst(b) && !a.isInvalidConst() && !b.isInvalidConst();
}

UOp branchTaken(Match& m) {
  return m[c0].constValue().asDouble() != 0 ? m[x] : m[y];
}

/// not c ? x : y, unless y is Invalid: gates stay in one form.
UOp swapBranches(Match& m) {
  return m[y].isInvalidConst() ? m.decline("the gate of an index stays as it is") : m[cond].where(m[y], m[x]);
}

/// One WHERE instead of two where one of its branches then is a constant.
UOp joinWheres(Match& m) {
  UOp u = m.root(), a = u.src(0), b = u.src(1);
  if (!bothConst(a.src(1), b.src(1)) && !bothConst(a.src(2), b.src(2)))
    return m.decline("no pair of branches is constant");
  return a.src(0).where(a.src(1).alu(u.op(), {b.src(1)}), a.src(2).alu(u.op(), {b.src(2)}));
}
UOp joinWheresInSum(Match& m) {
  if (!bothConst(m[t0], m[t1]) && !bothConst(m[f0], m[f1]))
    return m.decline("no pair of branches is constant");
  return m[y] + m[cond].where(m[t0] + m[t1], m[f0] + m[f1]);
}
/// A constant joins two constant branches.
UOp intoConstBranches(Match& m) {
  UOp u = m.root();
  bool left = u.src(0).is(Op::WHERE);
  UOp choice = u.src(left ? 0 : 1), c = u.src(left ? 1 : 0);
  if (!laneConst(c) || !bothConst(choice.src(1), choice.src(2))) return m.decline("a branch is no constant");
  auto apply = [&](UOp v) { return left ? v.alu(u.op(), {c}) : c.alu(u.op(), {v}); };
  return choice.src(0).where(apply(choice.src(1)), apply(choice.src(2)));
}

constexpr Pat kWhere = pat::any(OpSet{Op::WHERE});
constexpr OpSet kJoinable = group::kBinary - OpSet{Op::THREEFRY, Op::POW};

constexpr RuleDef kSimpleWhereRules[] = {
    RULE("where-same-branches", pat::where(cond, x, x), x),
    RULE("where-const", pat::where(c0, x, y), branchTaken, guard::isConst(c0)),
    RULE("where-true-false", pat::where(xb, true, false).withDtype(kMaskBool), x),
    RULE("where-false-true", pat::where(xb, false, true).withDtype(kMaskBool), pat::logicalNot(x)),
    RULE("where-where-else", pat::where(x, pat::where(y, z, w), w), pat::where(x& y, z, w)),
    RULE("where-else-where", pat::where(x, z, pat::where(y, z, w)), pat::where(x | y, z, w)),
    RULE("where-where-then", pat::where(x, pat::where(y, w, z), w), pat::where(x& pat::logicalNot(y), z, w)),
    RULE("where-same-cond-then", pat::where(x, pat::where(x, y, z), w), pat::where(x, y, w)),
    RULE("where-same-cond-else", pat::where(x, y, pat::where(x, z, w)), pat::where(x, y, w)),
};

constexpr RuleDef kWhereRules[] = {
    RULE("where-not", pat::where(pat::logicalNot(cond), x, y), swapBranches),
    RULE("where-bool-or", pat::where(xb, true, yb), x | y),
    RULE("where-bool-and", pat::where(xb, yb, false), x& y),
    RULE("alu-of-wheres", pat::op(kJoinable, pat::where(cond, t0, f0), pat::where(cond, t1, f1)), joinWheres),
    RULE("sum-of-wheres",
         ((y + pat::where(cond, t0, f0)) + pat::where(cond, t1, f1)).withDtype(kMaskIntsBool),
         joinWheresInSum),
    RULE("where-const-left", pat::op(kJoinable, kWhere, c0), intoConstBranches),
    RULE("where-const-right", pat::op(kJoinable, c0, kWhere), intoConstBranches),
};

} // namespace

Family simpleWhereRules() {
  return kSimpleWhereRules;
}
Family whereRules() {
  return kWhereRules;
}

} // namespace uopscope::rules
