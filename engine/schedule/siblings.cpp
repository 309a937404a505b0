// Reads of sums, the loops in which they agree, and prices.
#include "engine/schedule/siblings.h"

#include "engine/base/context_var.h"
#include "engine/rules/movement_index.h"
#include "engine/rules/range_match.h"
#include "engine/schedule/prices.h"
#include "engine/schedule/rangeify.h"
#include "engine/uop/visit.h"

#include <algorithm>

namespace uopscope::sched {

namespace {

/// Accumulators that stay in registers, one vector each, beside what a step loads: three quarters of AVX2's.
constexpr size_t kAccumulators = 12;
constexpr size_t kMostSums = 32;
/// A step of a sum whose accumulator is written to memory and read back.
constexpr double kSpilled = 6;

double stepsOf(std::span<const UOp> ranges) {
  double steps = 1;
  for (UOp r : ranges) steps *= static_cast<double>(r.vmax() + 1);
  return steps;
}

/// Whether each step reads another element, as no operand of a product and no window does.
bool readsEachOnce(UOp index, std::span<const UOp> ranges) {
  const UOp place = ungate(index).index;
  return std::ranges::all_of(ranges, [&](UOp r) { return place.dependsOn(r); }) &&
         static_cast<double>(place.vmax() - place.vmin() + 1) >= stepsOf(ranges);
}

/// The reads of a sum in these loops.
void addReads(SumKernel& kernel, UOp sum) {
  std::vector<UOp> ranges = kernel.loops;
  for (UOp r : sum.src().subspan(1))
    if (r.is(Op::RANGE)) ranges.push_back(r);
  visitBelow(sum.src(0), [&](UOp u) {
    if (u.is(Op::INDEX) && u.srcCount() == 2 && readsEachOnce(u.src(1), ranges))
      kernel.reads.push_back({u, ranges, stepsOf(ranges)});
    return u.in({Op::REDUCE, Op::AFTER, Op::INDEX}) ? Visit::Past : Visit::Below;
  });
}

} // namespace

SumKernel sumKernelOf(UOp end, const StoredValue& value) {
  SumKernel kernel;
  kernel.loops.assign(end.src().begin() + 1, end.src().end());
  if (vars::plain || !isProcessor(value.device) || !allInt(value.shape) ||
      std::ranges::any_of(value.parts, isCarried) ||
      !std::ranges::all_of(kernel.loops, [](UOp r) { return r.is(Op::RANGE); }))
    return kernel;
  visitBelow(end.src(0), [&](UOp u) {
    if (u.is(Op::REDUCE)) {
      ++kernel.sums;
      const auto& open = u.ranges();
      if (std::ranges::all_of(kernel.loops, [&](UOp r) { return std::ranges::find(open, r) != open.end(); }))
        addReads(kernel, u);
    }
    return u.is(Op::AFTER) ? Visit::Past : Visit::Below;
  });
  return kernel;
}

bool isFull(const SumKernel& kernel) {
  return kernel.sums >= kMostSums;
}

std::optional<Sharing> sharingOf(const SumKernel& host, const SumKernel& guest) {
  if (host.loops.size() != guest.loops.size() || host.sums + guest.sums > kMostSums) return {};
  for (const SummedRead& theirs : host.reads)
    for (const SummedRead& ours : guest.reads) {
      if (theirs.at.src(0) != ours.at.src(0)) continue;
      UOpMap<UOp> to = matchRanges(theirs.at.src(1), ours.at.src(1), theirs.ranges, ours.ranges);
      if (to.empty()) continue;
      Sharing sharing{{}, ours.elements};
      for (UOp r : guest.loops) sharing.loops[r] = to.at(r);
      return sharing;
    }
  return {};
}

SharePrice priceOf(const SumKernel& host, const SumKernel& guest, const Sharing& sharing) {
  const size_t sums = host.sums + guest.sums;
  const size_t spilled = sums > kAccumulators ? std::min(guest.sums, sums - kAccumulators) : 0;
  return {static_cast<double>(spilled) * sharing.elements * kSpilled, sharing.elements * kLoad + kKernel};
}

UOp inLoops(UOp expression, const UOpMap<UOp>& loops) {
  UOpMap<UOp> to(loops);
  visitBelow(expression, [&](UOp u) {
    if (u.is(Op::AFTER)) to[u] = u;
    return u.is(Op::AFTER) ? Visit::Past : Visit::Below;
  });
  return expression.substitute(to);
}

void join(SumKernel& host, const SumKernel& guest, const Sharing& sharing) {
  host.sums += guest.sums;
  for (const SummedRead& read : guest.reads) {
    SummedRead moved{inLoops(read.at, sharing.loops), read.ranges, read.elements};
    for (UOp& r : moved.ranges)
      if (auto to = sharing.loops.find(r); to != sharing.loops.end()) r = to->second;
    host.reads.push_back(std::move(moved));
  }
}

} // namespace uopscope::sched
