// Invalid marks an index that must not be accessed. It passes through arithmetic to the access that asks for
// it, and a gate WHERE(c, x, Invalid) passes with it: (c ? x : Invalid) + 1 is c ? x+1 : Invalid.
//
// A comparison of a gated value is only looked at where the gate holds, so it drops the gate.
#include "engine/rules/families.h"
#include "engine/rules/variables.h"

namespace uopscope::rules {

namespace {

constexpr OpSet kCarries = group::kBinary - group::kComparison;

UOp liftGate(UOp alu, size_t at) {
  UOp gated = alu.src(at);
  UOp value = at == 0 ? gated.src(1).alu(alu.op(), {alu.src(1)}) : alu.src(0).alu(alu.op(), {gated.src(1)});
  // Both operands gated: the second gate is lifted when the new value is visited.
  return gated.src(0).where(value, gated.src(2));
}

UOp liftLeft(Match& m) {
  return liftGate(m.root(), 0);
}
UOp liftRight(Match& m) {
  return liftGate(m.root(), 1);
}
UOp compareUngated(Match& m) {
  UOp u = m.root();
  auto value = [](UOp s) { return s.is(Op::WHERE) && s.src(2).isInvalidConst() ? s.src(1) : s; };
  return value(u.src(0)).alu(u.op(), {value(u.src(1))});
}
/// Out of index nobody asks whether the gate holds; a cast to the type it has is another rule's, and keeps it.
UOp castUngated(Match& m) {
  if (m.root().dtype() == m[x].dtype()) return {};
  return m[x].cast(m.root().dtype());
}
UOp mergeGates(Match& m) {
  return (m[cond] & m[y]).where(m[x], m.root().src(2));
}

constexpr RuleDef kInvalidRules[] = {
    RULE("cast-gated", pat::op(Op::CAST, kGated), castUngated),
    RULE("lift-gate-left", pat::op(kCarries, kGated, z), liftLeft),
    RULE("lift-gate-right", pat::op(kCarries, z, kGated), liftRight),
    RULE("compare-gated-left", pat::op(group::kComparison, kGated, z), compareUngated),
    RULE("compare-gated-right", pat::op(group::kComparison, z, kGated), compareUngated),
    RULE("invalid-left", pat::op(kCarries, kInvalid.named(w), z), [](Match& m) { return m[w]; }),
    RULE("invalid-right", pat::op(kCarries, z, kInvalid.named(w)), [](Match& m) { return m[w]; }),
    RULE("gate-of-gate", pat::where(yb, kGated, kInvalid), mergeGates),
    RULE("gate-of-invalid", pat::where(cond, kInvalid.named(w), kInvalid), [](Match& m) { return m[w]; }),
};

} // namespace

Family invalidRules() {
  return kInvalidRules;
}

} // namespace uopscope::rules
