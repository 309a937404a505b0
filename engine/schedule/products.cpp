// Products whose elements another reduction reads. In a kernel of its own a product has tiles: each number that it loads is
// used for many results. Below the loops of a second reduction there are no tiles, and the second reduction's loops come
// inside those of the product.
//
//   (a @ b).sum(1)      in one kernel 475 ms, stored first 9 ms   (2,048 x 1,024 by 1,024 x 1,024, AVX-512)
#include "engine/base/context_var.h"
#include "engine/schedule/prices.h"
#include "engine/schedule/rangeify.h"

#include <algorithm>

namespace uopscope::sched {

namespace {

constexpr double kFewestUses = 8; ///< of each loaded number in a product

/// Whether a product uses each number of an operand often, if a number is loaded once.
bool isReused(UOp operand, double iterations) {
  return iterations >= kFewestUses * elementCount(sourceOf(operand).shape());
}

bool isReduceRange(UOp range) {
  return range.axisType() == AxisType::Reduce;
}

} // namespace

bool RangeAssignment::isInReduction(const Use& use) {
  return std::any_of(use.at->begin(), use.at->end(), [](UOp index) {
    const auto& open = index.ranges();
    return std::any_of(open.begin(), open.end(), isReduceRange);
  });
}

/// For a product that a reduction reads: storing it against what its iterations lose without tiles.
std::optional<OwnKernel> RangeAssignment::productInReduction(UOp u, const std::vector<Use>& uses) {
  if (!u.is(Op::REDUCE_AXIS) || u.arg().as<ReduceArg>().op != Op::ADD || vars::pcontig > 0) return {};
  const UOp term = sourceOf(u.src(0));
  if (!term.is(Op::MUL) || std::none_of(uses.begin(), uses.end(), isInReduction)) return {};
  const double elements = elementCount(u.shape()), iterations = elementCount(u.src(0).shape());
  if (!isReused(term.src(0), iterations) || !isReused(term.src(1), iterations)) return {};
  const double stored = elements * (kStore + kLoad) + kKernel, untiled = iterations * kUntiled;
  if (untiled <= stored) return {};
  return OwnKernel{"it is stored: a product has tiles in a kernel of its own", stored, untiled};
}

} // namespace uopscope::sched
