// Reductions of rows that a kernel with few results reduces further, as the mean of a loss that each row has. In one kernel the loop over
// rows is a reduction, which no threads share; rows that are stored first are results, which they do.
//
//   ((a - p).square().sum(1).sqrt() + 1).mean()    4,096 rows of 128: in one kernel 81 us, rows stored first 43 us (two threads)
#include "engine/base/context_var.h"
#include "engine/schedule/prices.h"
#include "engine/schedule/rangeify.h"
#include "engine/uop/visit.h"

namespace uopscope::sched {

namespace {

constexpr double kResultsForThreads = 16; ///< from here on threads share the results of the reader
constexpr double kSaved = 0.5;            ///< of the time, by two threads; more save more

/// The results of a reader: the steps of its loops that are no reduction.
double resultsOf(const std::vector<UOp>& at) {
  UOpMap<bool> loops;
  for (UOp index : at)
    for (UOp r : index.ranges())
      if (r.axisType() != AxisType::Reduce) loops[r] = true;
  double results = 1;
  for (const auto& [loop, isOpen] : loops) results *= static_cast<double>(loop.vmax() + 1);
  return results;
}

} // namespace

/// The iterations of the reductions that a value is computed from element by element.
double RangeAssignment::iterationsBelow(UOp u) {
  double iterations = 0;
  visitBelow(u, [&](UOp v) {
    if (v != u && realize_.contains(v)) return Visit::Past;
    if (v.is(Op::REDUCE_AXIS)) iterations += elementCount(v.src(0).shape());
    return v.in(group::kMovement | group::kElementwise) ? Visit::Below : Visit::Past;
  });
  return iterations;
}

/// For a value of rows whose readers reduce it to a few results: storing it against what its reductions lose in one thread.
std::optional<OwnKernel> RangeAssignment::rowsForThreads(UOp u, const std::vector<Use>& uses) {
  if (vars::pcontig > 0 || !isProcessor(u.device()) || uses.empty()) return {};
  if (elementCount(u.shape()) < kResultsForThreads) return {};
  for (const Use& use : uses)
    if (!isInReduction(use) || resultsOf(*use.at) >= kResultsForThreads) return {};
  const double stored = elementCount(u.shape()) * (kStore + kLoad) + kKernel;
  const double lost = iterationsBelow(u) * kStepOfSum * kSaved;
  if (lost <= stored) return {};
  return OwnKernel{"it is stored: threads share its rows in a kernel of its own", stored, lost};
}

} // namespace uopscope::sched
