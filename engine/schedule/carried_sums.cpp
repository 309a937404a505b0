// Sums that a loop carries, instead of computing each result anew (engine/codegen/running.h): running sums, products and
// maxima, and sums that each add a term to the one result that a number names (scattered sums: the gradient of an
// embedding). A loop carries a sum in a kernel that stores one value and sums nothing else. Among other stores, or below
// the loops of another reduction, every result would look at all terms.
//
//   y = x.cumsum(1);  (y * w).sum()      in one kernel 1,965 ms, stored first 0.8 ms    (1,000 x 2,000, AVX-512)
//   a step of Adam on an embedding       with the sum in the update's kernel 58 ms, stored first 1.5 ms (20,000 x 128)
#include "engine/rules/movement_index.h"
#include "engine/schedule/passes.h"
#include "engine/schedule/prices.h"
#include "engine/schedule/rangeify.h"
#include "engine/uop/visit.h"

#include <algorithm>

namespace uopscope::sched {

namespace {

constexpr double kFewestSteps = 16; ///< fewer are summed anew just as well
constexpr double kFewestReads = 8;  ///< of each element

bool isZero(UOp u) {
  return sourceOf(u).isConst(0.0);
}
bool isInMemory(UOp u) {
  return u.in({Op::BUFFER, Op::BUFFER_VIEW}) || u.below().intersects({Op::BUFFER, Op::BUFFER_VIEW});
}

/// A value with the places at which a reduction reads it.
struct Read {
  UOp value;
  Indices at;
  Read under(UOp source) const { return {source, at}; }
};
Read readThrough(Read r) {
  for (; r.value.is(Op::CAST) || r.value.in(group::kMovement); r.value = r.value.src(0))
    if (r.value.in(group::kMovement)) r.at = movementIndices(r.value, r.at);
  return r;
}
bool dependsOn(const Read& r, const std::vector<UOp>& ranges) {
  return std::any_of(r.at.begin(), r.at.end(), [&](UOp index) {
    return std::any_of(ranges.begin(), ranges.end(), [&](UOp range) { return index.dependsOn(range); });
  });
}

/// Whether a condition holds where both of its sources do: products of conditions are not simplified yet.
bool isBoth(UOp condition) {
  return condition.is(Op::AND) || (condition.is(Op::MUL) && condition.dtype().isBool());
}

/// Whether a number has no closed form in the places that it depends on: it is in memory, or was a float.
bool isLookedUp(UOp number) {
  constexpr OpSet kPassed = group::kMovement | OpSet{Op::CAST, Op::ADD, Op::MUL, Op::WHERE, Op::MAX};
  bool found = isInMemory(number);
  if (!found)
    visitBelow(number, [&](UOp u) {
      found |= u.is(Op::CAST) && u.src(0).dtype().isFloat();
      return found ? Visit::Stop : u.in(kPassed) ? Visit::Below : Visit::Past;
    });
  return found;
}

/// Whether a condition compares a number that is looked up, one for each term, with the number of the result.
bool choosesResult(Read condition, const std::vector<UOp>& summed) {
  Read r = readThrough(std::move(condition));
  if (isBoth(r.value))
    return choosesResult(r.under(r.value.src(0)), summed) || choosesResult(r.under(r.value.src(1)), summed);
  if (!r.value.in({Op::CMPNE, Op::CMPEQ})) return false;
  if (r.value.src(0).dtype().isBool())
    return sourceOf(r.value.src(1)).is(Op::CONST) && choosesResult(r.under(r.value.src(0)), summed);
  if (!r.value.src(0).dtype().isInt()) return false;
  for (size_t side = 0; side < 2; ++side) {
    UOp place = r.value.src(side), number = r.value.src(1 - side);
    if (isLookedUp(place) || !isLookedUp(number)) continue;
    return !dependsOn(readThrough(r.under(place)), summed) && dependsOn(readThrough(r.under(number)), summed);
  }
  return false;
}

/// Marks the summed ranges that a condition fixes: `place == number`, where the number is the same for all terms.
void findFixed(Read condition, const std::vector<UOp>& summed, std::vector<UOp>& fixed, bool holds = true) {
  const Read r = readThrough(std::move(condition));
  if (isBoth(r.value) && holds) {
    for (UOp part : r.value.src()) findFixed(r.under(part), summed, fixed);
    return;
  }
  if (!r.value.in({Op::CMPNE, Op::CMPEQ})) return;
  if (r.value.src(0).dtype().isBool()) {
    if (r.value.is(Op::CMPNE) && sourceOf(r.value.src(1)).isConst(1))
      findFixed(r.under(r.value.src(0)), summed, fixed, !holds);
    return;
  }
  if (r.value.is(Op::CMPEQ) != holds || !r.value.src(0).dtype().isInt()) return;
  for (size_t side = 0; side < 2; ++side) {
    const UOp place = r.value.src(side), number = r.value.src(1 - side);
    if (isInMemory(place) || dependsOn(readThrough(r.under(number)), summed)) continue;
    std::vector<UOp> named;
    for (UOp range : summed)
      if (dependsOn(readThrough(r.under(place)), {range})) named.push_back(range);
    if (named.size() == 1) fixed.push_back(named[0]);
  }
}

/// The condition and the value of a term that is a constant where the condition is false; null if it is none.
std::pair<UOp, UOp> chosenTerm(UOp term, Op how) {
  if (term.is(Op::WHERE) && (how == Op::ADD ? isZero(term.src(2)) : sourceOf(term.src(2)).is(Op::CONST)))
    return {term.src(0), term.src(1)};
  if (term.is(Op::MUL) && how == Op::ADD)
    for (size_t side = 0; side < 2; ++side)
      if (sourceOf(term.src(side)).dtype().isBool()) return {term.src(side), term.src(1 - side)};
  return {};
}

/// The terms of a reduction, read along all of their axes; the ranges of those that are summed.
Read termsOf(UOp u, std::vector<UOp>& summed) {
  const auto& reduce = u.arg().as<ReduceArg>();
  const Shape& shape = u.src(0).shape();
  Read read{u.src(0), {}};
  for (size_t k = 0; k < shape.size(); ++k) {
    const auto axis = static_cast<int64_t>(k);
    const bool isShort = shape[k] == Sint(1);
    read.at.push_back(isShort ? UOp::index(0) : UOp::range(shape[k].uop(), {axis}, AxisType::Loop));
    if (!isShort && std::find(reduce.axes.begin(), reduce.axes.end(), axis) != reduce.axes.end())
      summed.push_back(read.at.back());
  }
  return read;
}

bool isScattered(UOp u) {
  const Shape& shape = u.src(0).shape();
  const auto [condition, value] = chosenTerm(sourceOf(u.src(0)), u.arg().as<ReduceArg>().op);
  if (!condition || !allInt(shape) ||
      kFewestReads * elementCount(sourceOf(value).shape()) > elementCount(shape))
    return false;
  std::vector<UOp> summed;
  Read read = termsOf(u, summed);
  return choosesResult(readThrough(std::move(read)).under(condition), summed);
}

bool isRunning(UOp u) {
  if (u.arg().as<ReduceArg>().axes.size() != 1) return false;
  UOp term = sourceOf(u.src(0));
  // A triangle chooses by place alone; windows of a padded value choose nothing.
  if (term.is(Op::WHERE)) {
    if (!sourceOf(term.src(0)).is(Op::CONST) || !sourceOf(term.src(2)).is(Op::CONST)) return false;
    term = sourceOf(term.src(1));
  }
  return !term.is(Op::CONST) && kFewestReads * elementCount(term.shape()) <= elementCount(u.src(0).shape());
}

} // namespace

bool isCarried(UOp u) {
  return u.is(Op::REDUCE_AXIS) && isProcessor(u.device()) &&
         elementCount(u.src(0).shape()) >= kFewestSteps * elementCount(u.shape()) && isInMemory(u) &&
         (isRunning(u) || isScattered(u));
}

std::vector<bool> axesLookedUp(UOp u) {
  std::vector<bool> found(u.src(0).shape().size());
  const auto [condition, value] = chosenTerm(sourceOf(u.src(0)), u.arg().as<ReduceArg>().op);
  if (!condition || !allInt(u.src(0).shape())) return found;
  std::vector<UOp> summed, fixed;
  Read read = termsOf(u, summed);
  findFixed(readThrough(std::move(read)).under(condition), summed, fixed);
  for (UOp range : fixed) found[static_cast<size_t>(range.arg().as<RangeArg>().ids[0])] = true;
  return found;
}

/// Whether a kernel updates memory that it reads: a loop that adds up in its results would begin by clearing what is still needed.
bool readsItsTarget(UOp host) {
  if (!host.is(Op::ASSIGN)) return false;
  const UOp buffer = assignedBuffer(host.src(0));
  return !buffer || host.src(1).dependsOn(buffer);
}

/// For a carried sum in a kernel that does something else besides: storing it against summing each result anew.
std::optional<OwnKernel> RangeAssignment::carriedInCompany(UOp u, const std::vector<Use>& uses) {
  if (!isCarried(u)) return {};
  const int kernel = uses[0].kernel;
  const UOp host = state_.stored[static_cast<size_t>(kernel)].node;
  const bool alone = storesOf_[kernel] == 1 && !carries_.contains(kernel) && groups_->groupOf(host) < 0 &&
                     !readsItsTarget(host) &&
                     std::none_of(
                         uses.begin(), uses.end(),
                         [&](const Use& use) { return use.kernel != kernel || isInReduction(use); });
  if (alone) return {};
  const double stored = elementCount(u.shape()) * (kStore + kLoad) + kKernel;
  const double anew = elementCount(u.src(0).shape()) * kStepOfSum;
  if (anew <= stored) return {};
  return OwnKernel{"it is stored: a loop carries the sum in a kernel of its own", stored, anew};
}

} // namespace uopscope::sched
