// Reductions: factors that do not depend on the loop move out of it. Two more rules apply to kernels alone.
//
// Moving a factor out of a float sum changes its rounding, as it does in the reference. A factor leaves a maximum only
// where it keeps the order of the terms: it is not negative, and no product wraps or is NaN.
#include "engine/rules/algebra.h"
#include "engine/rules/families.h"
#include "engine/rules/interval.h"
#include "engine/rules/rounding.h"
#include "engine/rules/variables.h"

#include <algorithm>
#include <cmath>

namespace uopscope::rules {

namespace {

/// Whether the product with a factor that is not negative stays in its type, where it would wrap otherwise.
bool fits(UOp value, UOp factor) {
  const DType type = value.dtype().scalar();
  if (type == dtypes::index) return true;
  if (type.kind() == Scalar::UInt64) return false; // its bounds saturate below its largest number
  return Wide{value.vmin()} * factor.vmax() >= dtypes::minInt(type) &&
         Wide{value.vmax()} * factor.vmax() <= Wide{dtypes::maxInt(type)};
}

/// Whether max(x * f) is max(x) * f: the factor keeps the order, and no product wraps or is the NaN of 0 * infinity.
bool keepsOrder(UOp factor) {
  if (!factor.dtype().isFloat()) return factor.vmin() >= 0;
  const UOp c = laneConst(factor);
  return c && c.arg().number() > 0 && std::isfinite(c.arg().number());
}

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
    bool leaves = !depends && (!isMax || keepsOrder(f));
    (leaves ? outside : inside).push_back(f);
  }
  if (outside.empty()) return m.decline("every factor depends on the loop, or may be negative in a maximum");
  std::vector<UOp> src(reduce.src().begin(), reduce.src().end());
  src[0] = joinUop(inside, Op::MUL, value.constLike(int64_t{1}));
  const UOp factor = joinUop(outside, Op::MUL, {});
  if (isMax && !factor.dtype().isFloat() && !fits(src[0], factor)) return m.decline("a product may wrap");
  return reduce.withSrc(src) * factor;
}

/// The bits of two mantissas of half precision or less fit into one of float32.
bool isExactInSum(const Match& m) {
  const DType sum = m.root().dtype(), product = m.root().src(0).src(0).dtype();
  return m.root().arg().op() == Op::ADD && sum.count() == 1 && sum == m.root().src(0).dtype() &&
         sum.isFloat() && sum.itemsize() >= 4 && product.isFloat() && product.itemsize() <= 2;
}

constexpr RuleDef kReduceRules[] = {
    RULE("exact-product", pat::op(Op::REDUCE, pat::op(Op::CAST, x* y)).more(),
         pat::rootWith(pat::toRoot(x) * pat::toRoot(y)), kMayRound,
         guard::when(isExactInSum, "the product has rounded, or is no smaller float")),
    RULE("mul-out-of-reduce", pat::op(Op::REDUCE, pat::any(OpSet{Op::MUL})).more(), mulOutOfReduce,
         kMayRound),
};
const KnownRules kReduceRulesKnown(kReduceRules);

constexpr RuleDef kKernelRules[] = {
    RULE("ne-zero-as-cast", x != 0, pat::to(dtypes::bool_, x), guard::notPointer(x)),
    RULE("cast-into-branches", pat::op(Op::CAST, pat::where(cond, x, y)),
         pat::where(cond, pat::toRoot(x), pat::toRoot(y)), guard::notInvalid(x), guard::notInvalid(y)),
};
const KnownRules kKernelRulesKnown(kKernelRules);

} // namespace

Family reduceRules() {
  return kReduceRules;
}
Family kernelRules() {
  return kKernelRules;
}

} // namespace uopscope::rules
