// Loops that nothing divides: results may be computed twice, where tiles overlap; terms may not, and are peeled: a loop becomes
// whole steps of lanes, and the terms that are left over, behind it.
//
//   sum of 997 terms, UNROLL (64, 1)  ->  15 steps of 64 lanes, then 37 lanes: vectors of 16, 16, 4 and 1
//   997 results, UPCAST (16, 1)       ->  63 tiles of 16 lanes, the last from 981 on
//
// Without them lanes would have to divide a loop, and 997 is a prime.
#include "engine/codegen/opt.h"
#include "engine/codegen/ranges.h"
#include "engine/rewrite/replacement.h"
#include "engine/uop/visit.h"

#include <algorithm>

namespace uopscope {

namespace {

constexpr RuleDef kPeel[] = {RULE("peel-terms", pat::any(Op::REDUCE), pat::entry())};
const KnownRules kPeelKnown(kPeel);

} // namespace

bool KernelOptimizer::mayOverlap(UOp range) const {
  if (target_->hasLocal) return false;
  std::vector<UOp> parallel = parallelRanges();
  // A loop inside of others, such as one along a row that the kernel keeps, belongs to some of the stores alone.
  const bool isInner = std::find(parallel.begin(), parallel.end(), range) == parallel.end();
  if (isInner && (range.axisType() != AxisType::Loop || stepsShareMemory(range))) return false;
  // A register whose places do not depend on the range, and that is cleared inside of it, belongs to one step. Any other one would be
  // added to twice.
  std::vector<UOp> written;
  UOpMap<bool> isShared, isRead;
  for (UOp u : ast_.toposort()) {
    if (!u.is(Op::STORE)) continue;
    const auto& open = u.ranges();
    const bool isInside = std::find(open.begin(), open.end(), range) != open.end();
    if (isInside) written.push_back(u.src(0));
    if (isInside && isInner && !u.src(0).src(1).dependsOn(range)) return false;
    for (UOp from : {u.src(0).src(1), u.src(1)})
      if (isInside && isInner)
        for (UOp below : from.toposort()) isRead[below] = true;
    if (!isInside || u.src(0).src(1).dependsOn(range)) isShared[u.src(0).bufferOf()] = true;
  }
  std::erase_if(written,
                [&](UOp w) { return w.bufferOf().is(Op::DEFINE_REG) && !isShared.contains(w.bufferOf()); });
  // The second computation must not read a result that the first one stored.
  return std::none_of(accesses_.begin(), accesses_.end(), [&](UOp a) {
    return std::find(written.begin(), written.end(), a) == written.end() &&
           (!isInner || isRead.contains(a)) &&
           std::any_of(written.begin(), written.end(), [&](UOp w) { return w.bufferOf() == a.bufferOf(); });
  });
}

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
