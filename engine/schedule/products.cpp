// Products whose elements another reduction reads. In a kernel of its own a product has tiles: each number that it loads is
// used for many results. Below the loops of a second reduction there are no tiles, and the second reduction's loops come
// inside those of the product.
//
//   (a @ b).sum(1)      in one kernel 475 ms, stored first 9 ms   (2,048 x 1,024 by 1,024 x 1,024, AVX-512)
//
// Nor are there tiles where a kernel stores the margins of a PAD beside the product, in loops of their own:
//
//   conv(x).relu().max_pool2d(3, 2, padding=1)    in one kernel 67 ms, stored first 1.5 ms (3x224x224, 64 filters of 7x7)
//
// A convolution loses the more there, however short its sum is, since its windows are read below conditions.
//
// The results of a filter's gradient lie nine apart along its lanes. An optimizer's step in the same kernel goes to a line for each of
// the weights, their means and their squares, at each of nine places of a window:
//
//   dw of 512 x 512 x 3 x 3 from 8 x 7 x 7, and Adam    in one kernel 16 ms, stored first 7.7 and 1.6 ms
//
// And the tiles of a kernel are those of one reduction: of two products side by side one is stored first, and so is another sum beside
// a product.
//
//   (x @ w.T).silu() * (x @ v.T)    in one kernel 1.58 ms, one of them stored first 1.16 ms   (256 x 512 by 512 x 1,024)
#include "engine/base/context_var.h"
#include "engine/rules/movement_index.h"
#include "engine/schedule/operand_places.h"
#include "engine/schedule/prices.h"
#include "engine/schedule/rangeify.h"
#include "engine/uop/visit.h"

#include <algorithm>

namespace uopscope::sched {

namespace {

/// Whether windows that overlap read an operand, as in a convolution: loops add up to an index that has fewer values than they
/// have steps.
bool isReadInWindows(UOp operand) {
  std::vector<UOp> at = loopsOver(operand.shape());
  for (; operand.in(group::kMovement); operand = operand.src(0)) at = movementIndices(operand, at);
  return std::ranges::any_of(at, [](UOp gatedIndex) {
    const UOp index = ungate(gatedIndex).index;
    double steps = 1;
    for (UOp loop : index.ranges()) steps *= static_cast<double>(loop.vmax() + 1);
    return static_cast<double>(index.vmax() - index.vmin() + 1) < steps;
  });
}

/// Whether the results of a product that lie side by side are fewer than a vector, as those of a filter's gradient along a window are:
/// lanes are along another axis then, and each is stored to a line of its own. Few lines stay in a near cache until all of each is written.
bool areResultsApart(UOp product) {
  constexpr int64_t kNeighbours = 8;
  constexpr double kFewResults = 1 << 18;
  const Shape& shape = product.shape();
  if (elementCount(shape) < kFewResults) return false;
  for (size_t axis = shape.size(); axis-- > 0;)
    if (const Sint& n = shape[axis]; !n.isInt() || n.i() != 1) return n.isInt() && n.i() < kNeighbours;
  return false;
}

/// Whether it is a sum of products, each factor of which is used for many results.
bool hasTiles(UOp u) {
  if (!u.is(Op::REDUCE_AXIS) || u.arg().as<ReduceArg>().op != Op::ADD) return false;
  const UOp term = sourceOf(u.src(0));
  const double iterations = elementCount(u.src(0).shape());
  return term.is(Op::MUL) && isReused(term.src(0), iterations) && isReused(term.src(1), iterations);
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

/// The values that the kernel stores which all uses are in; 0 if they are in several.
int RangeAssignment::writesOf(const std::vector<Use>& uses) {
  const bool isOne = std::ranges::all_of(uses, [&](const Use& use) { return use.kernel == uses[0].kernel; });
  return isOne && !uses.empty() ? storesOf_[uses[0].kernel] : 0;
}

/// The product that a value is, or is computed from element by element; null if there is none.
UOp RangeAssignment::productBelow(UOp u) {
  UOp found;
  visitBelow(u, [&](UOp v) {
    if (v.in(group::kMovement) || (v.in(group::kElementwise) && (v == u || !realize_.contains(v))))
      return Visit::Below;
    if (realize_.contains(v) || !hasTiles(v)) return Visit::Past;
    found = v;
    return Visit::Stop;
  });
  return found;
}

/// For a product that a reduction reads, that is read through a PAD, or whose kernel has a reduction: storing it against what its
/// iterations lose without tiles.
std::optional<OwnKernel> RangeAssignment::untiledProduct(UOp u, const std::vector<Use>& uses) {
  if (vars::pcontig > 0) return {};
  const bool inReduction = u.is(Op::REDUCE_AXIS) && std::any_of(uses.begin(), uses.end(), isInReduction);
  const bool inMargins = isProcessor(u.device()) && std::any_of(uses.begin(), uses.end(), [](const Use& use) {
                           return use.evals < use.most;
                         });
  const bool inCompany =
      u.is(Op::REDUCE_AXIS) && isProcessor(u.device()) &&
      std::any_of(uses.begin(), uses.end(), [&](const Use& use) { return sums_.contains(use.kernel); });
  if (!inReduction && !inMargins && !inCompany) return {};
  const UOp product = productBelow(u);
  if (!product) return {};
  const UOp term = sourceOf(product.src(0));
  const bool losesWindows = inMargins && (isReadInWindows(term.src(0)) || isReadInWindows(term.src(1)));
  const double stored = elementCount(u.shape()) * (kStore + kLoad) + kKernel,
               untiled = elementCount(product.src(0).shape()) * (losesWindows ? kUntiledWindows : kUntiled);
  if (untiled <= stored) return {};
  return OwnKernel{"it is stored: a product has tiles in a kernel of its own", stored, untiled, true};
}

/// For a reduction that is no product, in the loops of a kernel that has one: storing it against what the product loses without tiles.
std::optional<OwnKernel> RangeAssignment::besideProduct(UOp u, const std::vector<Use>& uses) {
  if (vars::pcontig > 0 || !u.is(Op::REDUCE_AXIS) || !isProcessor(u.device()) || hasTiles(u)) return {};
  double iterations = 0;
  for (const Use& use : uses) {
    if (isInReduction(use)) return {};
    if (auto known = sums_.find(use.kernel); known != sums_.end())
      iterations = std::max(iterations, known->second);
  }
  const double stored = elementCount(u.shape()) * (kStore + kLoad) + kKernel, untiled = iterations * kUntiled;
  if (untiled <= stored) return {};
  return OwnKernel{"it is stored: the product in its kernel has tiles without it", stored, untiled, true};
}

/// The iterations of a reduction if it is a product with tiles, otherwise 0.
double RangeAssignment::tiledIterations(UOp reduction) {
  return hasTiles(reduction) ? elementCount(reduction.src(0).shape()) : 0;
}

/// For a product whose kernel writes several values for each of results that lie apart: storing it against the lines that they go to.
std::optional<OwnKernel> RangeAssignment::productApart(UOp u, const std::vector<Use>& uses) {
  if (vars::plain || vars::pcontig > 0 || !hasTiles(u) || !isProcessor(u.device()) || !areResultsApart(u))
    return {};
  const int further = writesOf(uses) - 1;
  const double results = elementCount(u.shape()), stored = results * (kStore + kLoad) + kKernel,
               apart = results * further * kResultApart;
  if (further < 1 || apart <= stored) return {};
  return OwnKernel{"it is stored: its results lie apart, and its kernel would write several values for each",
                   stored, apart, true};
}

} // namespace uopscope::sched
