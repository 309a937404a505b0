// Reductions: factors that do not depend on the loop move out of it. Two more rules apply to kernels alone.
//
// Moving a factor out of a float sum changes its rounding, as it does in the reference. The factor of a
// maximum must not be negative.
#include "engine/rules/algebra.h"
#include "engine/rules/families.h"
#include "engine/rules/rounding.h"
#include "engine/rules/variables.h"

#include <algorithm>

namespace uopscope::rules {

namespace {

UOp mulOutOfReduce(Match& m) {
  UOp reduce = m.root(), value = reduce.src(0);
  if (reduce.arg().kind() != ArgKind::Op || reduce.dtype() != value.dtype())
    return m.decline("the reduction changes the dtype");
  bool isMax = reduce.arg().op() == Op::MAX;
  if (reduce.arg().op() != Op::ADD && !isMax) return m.decline("neither a sum nor a maximum");
  auto ranges = reduce.src().subspan(1);
  std::vector<UOp> inside, outside;
  for (UOp f : splitUop(value, Op::MUL)) {
    bool depends = std::any_of(ranges.begin(), ranges.end(), [&](UOp r) { return f.dependsOn(r); });
    bool positive = f.dtype().isFloat() ? laneConst(f) && laneConst(f).arg().number() >= 0 : f.vmin() >= 0;
    bool leaves = !depends && (!isMax || positive);
    (leaves ? outside : inside).push_back(f);
  }
  if (outside.empty()) return m.decline("every factor depends on the loop, or may be negative in a maximum");
  std::vector<UOp> src(reduce.src().begin(), reduce.src().end());
  src[0] = joinUop(inside, Op::MUL, value.constLike(int64_t{1}));
  return reduce.withSrc(src) * joinUop(outside, Op::MUL, {});
}

constexpr RuleDef kReduceRules[] = {
    RULE("mul-out-of-reduce", pat::op(Op::REDUCE, pat::any(OpSet{Op::MUL})).more(), mulOutOfReduce,
         kMayRound),
};

constexpr RuleDef kKernelRules[] = {
    RULE("ne-zero-as-cast", x != 0, pat::to(dtypes::bool_, x), guard::notPointer(x)),
    RULE("cast-into-branches", pat::op(Op::CAST, pat::where(cond, x, y)),
         pat::where(cond, pat::toRoot(x), pat::toRoot(y)), guard::notInvalid(x), guard::notInvalid(y)),
};

} // namespace

Family reduceRules() {
  return kReduceRules;
}
Family kernelRules() {
  return kKernelRules;
}

} // namespace uopscope::rules
