// Arithmetic on constants, and nodes whose bounds leave a single value.
#include "engine/rules/families.h"
#include "engine/rules/variables.h"
#include "engine/uop/eval.h"

#include <limits>

namespace uopscope::rules {

namespace {

/// An operation on constants becomes a constant. Invalid is excluded: it exists in dtype index alone.
UOp foldCast(Match& m) {
  UOp u = m.root();
  if (u.dtype().isPtr() || m[x].isInvalidConst() || u.dtype().isVoid())
    return m.decline("a pointer, Invalid or nothing is no number");
  UOp folded = evalConstants(u.op(), u.dtype(), u.src());
  return folded ? folded : m.decline("a bitcast between sizes");
}

UOp onlyValue(Match& m) {
  UOp u = m.root();
  if (u.is(Op::WHERE) && (u.src(1).isInvalidConst() || u.src(2).isInvalidConst()))
    return m.decline("a branch is Invalid");
  // The RANGE of an empty loop has no value at all, so it is not folded.
  if (u.is(Op::RANGE) && !u.src(0).isConst(1)) return m.decline("the loop may be empty");
  int64_t v = u.vmin();
  if (v != u.vmax() || v == std::numeric_limits<int64_t>::max() || v == std::numeric_limits<int64_t>::min())
    return m.decline("it has more than one value");
  return UOp::constant(u.dtype(), v);
}

constexpr RuleDef kFoldingRules[] = {
    RULE("fold-unary", pat::op(group::kUnary, c0), pat::fold(pat::sameOp(c0))),
    RULE("fold-binary", pat::op(group::kBinary, c0, c1), pat::fold(pat::sameOp(c0, c1))),
    RULE("fold-ternary", pat::op(group::kTernary, c0, c1, c2), pat::fold(pat::sameOp(c0, c1, c2))),
    RULE("fold-cast", pat::op(OpSet{Op::CAST, Op::BITCAST}, pat::any(OpSet{Op::CONST, Op::VCONST}).named(x)),
         foldCast),
};
const KnownRules kFoldingRulesKnown(kFoldingRules);

constexpr RuleDef kBoundsRules[] = {
    RULE("one-value",
         pat::any(group::kAlu | OpSet{Op::DEFINE_VAR, Op::SPECIAL, Op::RANGE}).withDtype(kMaskIntsBool),
         onlyValue),
};
const KnownRules kBoundsRulesKnown(kBoundsRules);

} // namespace

Family foldingRules() {
  return kFoldingRules;
}
Family boundsRules() {
  return kBoundsRules;
}

} // namespace uopscope::rules
