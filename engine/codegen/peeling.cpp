// Peeling: a loop over terms becomes whole steps of lanes, and the terms that are left over, behind it.
//
//   sum of 997 terms, UNROLL (64, 1)  ->  15 steps of 64 lanes, then 37 lanes: vectors of 16, 16, 4 and 1
//
// Without it the lanes of a sum would have to divide its terms, and 997 is a prime.
#include "engine/codegen/opt.h"
#include "engine/codegen/ranges.h"
#include "engine/rewrite/replacement.h"
#include "engine/uop/visit.h"

#include <algorithm>

namespace uopscope {

namespace {

constexpr RuleDef kPeel[] = {RULE("peel-terms", pat::any(Op::REDUCE), pat::entry())};

} // namespace

bool KernelOptimizer::mayPeel(UOp range) const {
  if (target_->hasLocal || range.axisType() != AxisType::Reduce) return false;
  return std::ranges::none_of(reduces_, [&](UOp red) {
    const std::vector<UOp> over = rangesIn(red.src().subspan(1));
    if (std::ranges::find(over, range) == over.end()) return false;
    return !visitBelow(red.src(0), [&](UOp u) {
      const auto& open = u.ranges();
      const bool repeats = std::ranges::find(open, range) != open.end();
      if (u.in({Op::REDUCE, Op::AFTER}) && repeats) return Visit::Stop;
      return u.in({Op::REDUCE, Op::AFTER}) ? Visit::Past : Visit::Below;
    });
  });
}

/// Each reduction over the range becomes one over whole steps of `amount` lanes, and one of the terms that are left over.
void KernelOptimizer::peel(UOp range, int64_t n, int64_t amount) {
  const bool isLoop = n / amount > 1;
  UOp steps = isLoop ? range.withSrc({UOp::constant(range.dtype(), n / amount)}) : UOp::index(0);
  UOp lanes = UOp::range(UOp::constant(range.dtype(), amount), {nextId_++}, AxisType::Unroll, range.dtype());
  UOp rest =
      UOp::range(UOp::constant(range.dtype(), n % amount), {nextId_++}, AxisType::Unroll, range.dtype());
  UOpMap<UOp> replace;
  for (UOp red : reduces_) {
    const std::vector<UOp> over = rangesIn(red.src().subspan(1));
    if (std::ranges::find(over, range) == over.end()) continue;
    std::vector<UOp> whole{red.src(0).substitute({{range, steps * amount + lanes}})},
        last{red.src(0).substitute({{range, rest + n / amount * amount}})};
    for (UOp r : over) {
      if (r != range || isLoop) whole.push_back(r == range ? steps : r);
      last.push_back(r == range ? rest : r);
    }
    whole.push_back(lanes);
    replace[red] = red.withSrc(whole).alu(red.arg().op(), {red.withSrc(last)});
  }
  static const PatternMatcher peelTerms({kPeel});
  this->replace(replace, peelTerms);
}

} // namespace uopscope
