// Sums that are read through a PAD. Where the gate of a PAD is closed nobody needs the value, but the loop of a sum runs all the
// same. The parts of a concatenation are such sums: each would run for every element of the whole.
//
//   cat(a.sum(0), b.sum(0))       one kernel runs both sums for every element of the result; stored, each runs for its own
#include "engine/schedule/prices.h"
#include "engine/schedule/rangeify.h"

#include <algorithm>

namespace uopscope::sched {

/// Iterations of all loops that compute a value for these readers. A kernel computes it at the same indices once.
double RangeAssignment::runsOf(const std::vector<Use>& uses) {
  std::map<int, double> ofKernel;
  for (const Use& use : uses) ofKernel[use.kernel] = std::max(ofKernel[use.kernel], use.runs);
  double all = 0;
  for (const auto& [kernel, runs] : ofKernel) all += runs;
  return all;
}

/// Whether a sum over memory runs longer for the margins of PADs than it takes to store its value and read it again. Narrow
/// margins, as around the windows of a convolution, are never worth a kernel: what is read there lies in the cache.
std::optional<OwnKernel> RangeAssignment::dearInMargins(UOp u, const std::vector<Use>& uses, double demand) {
  constexpr double kWide = 1.5; // iterations for each that is needed
  if (!u.is(Op::REDUCE_AXIS) || uses.empty() || !u.below().has(Op::BUFFER)) return {};
  const double runs = runsOf(uses);
  if (runs < kWide * demand) return {};
  double steps = 1;
  for (int64_t axis : u.arg().as<ReduceArg>().axes)
    steps *= static_cast<double>(u.src(0).shape()[static_cast<size_t>(axis)].vmax());
  const double inMargins = (runs - demand) * steps * kStepOfSum;
  const double stored = elementCount(u.shape()) * kStore + demand * kLoad + kKernel;
  if (inMargins <= stored) return {};
  return OwnKernel{"it is stored: its reader would run it for margins that nobody needs", stored, inMargins};
}

} // namespace uopscope::sched
