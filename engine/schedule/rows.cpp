// Rows that stay in the kernel which reads them. A softmax reads every row three times: for its largest value, for the sum
// of its exponentials and for its results. In kernels of their own each of these reads goes to memory; a kernel that
// goes through the rows finds a row in the nearest cache from the second time on, and keeps its exponentials there.
//
//   for r: { m = max of x[r];  for c: e[c] = exp(x[r, c] - m);  s = sum of e;  for c: out[r, c] = e[c] / s }
//
// The kernel of a stored value keeps, on a processor,
//   - a reduction of each row of a large tensor, where the rows are the outer loops of the kernel
//   - a value along the row that such a kernel reads several times, each time once
// No product may come inside: its tiles need the loops of a kernel of its own. What lies below a value is looked at before
// (needsLargerSum), and checked once all ranges are assigned (refuseRows). The loops of such values, and of those that
// PCONTIG asks for, are found here as well (insideKernel).
#include "engine/base/context_var.h"
#include "engine/schedule/rangeify.h"
#include "engine/uop/visit.h"

#include <algorithm>

namespace uopscope::sched {

namespace {

constexpr double kFewestRows = 16;      ///< that threads can share
constexpr double kLarge = 1 << 17;      ///< elements: below, memory is near and a row has few
constexpr double kLongestRow = 1 << 15; ///< elements of a reduction: 128 kB stay in the second cache
constexpr double kMostKept = 1 << 13;   ///< elements of a row that is stored: 32 kB
constexpr int64_t kLanes = 16;          ///< a row consists of whole vectors
constexpr int64_t kPartLanes = 4, kLongRow = 448; ///< a longer row may also end in a part of a vector

bool isVectors(const Sint& extent) {
  return extent.isInt() && extent.i() % (extent.i() < kLongRow ? kLanes : kPartLanes) == 0;
}

} // namespace

bool isProcessor(std::string_view device) {
  return device.substr(0, device.find(':')) == "CPU";
}

/// How many values read a value, counted when it is first asked for.
int RangeAssignment::readersOf(UOp value) {
  for (; counted_ < order_.size(); ++counted_) {
    UOp u = order_[counted_];
    if (u.in(group::kMovement)) continue;
    std::vector<UOp> read;
    for (UOp s : u.src()) {
      UOp base = baseOf(s);
      if (std::find(read.begin(), read.end(), base) != read.end()) continue;
      read.push_back(base);
      int* known = readers_.find(base.slot());
      readers_.set(base.slot(), known ? *known + 1 : 1);
    }
  }
  const int* readers = readers_.find(value.slot());
  return readers ? *readers : 0;
}

/// Whether a value is computed from a reduction with more results than there are rows. A value with several readers is
/// stored, or kept in the row, where they read it at different places.
bool RangeAssignment::needsLargerSum(UOp value, double rows) {
  return !visitBelow(value, [&](UOp u) {
    if (u.in(group::kMovement)) return Visit::Below;
    if (!u.in(group::kElementwise | OpSet{Op::REDUCE_AXIS}) || realize_.contains(u)) return Visit::Past;
    if (u != value && readersOf(u) > 1) return Visit::Past;
    if (u.is(Op::REDUCE_AXIS)) return elementCount(u.shape()) > rows ? Visit::Stop : Visit::Past;
    return Visit::Below;
  });
}

/// Whether a value is computed from reductions of rows, one for each step of the kernel's outer loops.
bool RangeAssignment::reducesRow(UOp u, const Inside& place) {
  bool any = false;
  bool all = visitBelow(u, [&](UOp v) {
    if (v.in(group::kMovement) || (v.in(group::kElementwise) && !realize_.contains(v))) return Visit::Below;
    if (!v.is(Op::REDUCE_AXIS) || realize_.contains(v)) return Visit::Past;
    const Shape& of = v.src(0).shape();
    const auto& axes = v.arg().as<ReduceArg>().axes;
    double all = elementCount(of), each = all / std::max(1.0, elementCount(v.shape()));
    bool suits = allInt(of) && elementCount(v.shape()) <= place.steps && all >= kLarge &&
                 each <= kLongestRow && axes.back() + 1 == static_cast<int64_t>(of.size()) &&
                 isVectors(of.back()) && !needsLargerSum(v.src(0), place.steps);
    any |= suits;
    return suits ? Visit::Past : Visit::Stop;
  });
  return any && all;
}

bool RangeAssignment::staysInRow(UOp u, const std::vector<Use>& uses, const Inside& place) {
  const int kernel = uses[0].kernel;
  UOp host = state_.stored[static_cast<size_t>(kernel)].node;
  if (!isProcessor(u.device()) || refused_.contains(host) || place.steps < kFewestRows) return false;
  if (!allInt(host.shape())) return false;
  if (host.is(Op::REDUCE_AXIS) && elementCount(host.shape()) > place.steps) return false;
  if (place.axes.empty()) {
    if (!reducesRow(u, place)) return false;
    double& rows = rows_[kernel];
    rows = std::max(rows, place.steps);
    return true;
  }
  auto isReadOnce = [&](const Use& use) { return use.evals <= elementCount(u.shape()); };
  return rows_.contains(kernel) && !u.is(Op::REDUCE_AXIS) && place.elements <= kMostKept &&
         isVectors(u.shape()[place.axes.back()]) && std::all_of(uses.begin(), uses.end(), isReadOnce) &&
         !needsLargerSum(u, place.steps);
}

bool RangeAssignment::refuseRows(UOpMap<bool>& refused) {
  bool any = false;
  for (UOp u : order_) {
    Ranges* r = u.is(Op::REDUCE_AXIS) ? ranges_.find(u.slot()) : nullptr;
    auto rows = r ? rows_.find(r->kernel) : rows_.end();
    if (rows == rows_.end()) continue;
    double each = 1;
    for (int64_t axis : u.arg().as<ReduceArg>().axes)
      each *= static_cast<double>(u.src(0).shape()[static_cast<size_t>(axis)].vmax());
    if (r->evals / each <= rows->second) continue;
    refused[state_.stored[static_cast<size_t>(r->kernel)].node] = true;
    any = true;
  }
  return any;
}

/// The loops of the kernel that all readers agree on stay where they are its outer ones; every other axis gets a loop of
/// its own, ahead of the loops that read it.
std::optional<RangeAssignment::Inside> RangeAssignment::placeInside(UOp u, const std::vector<Use>& uses) {
  constexpr double kMost = 1 << 14; // elements: they lie on the stack
  if (uses.empty() || !u.in(group::kElementwise | OpSet{Op::REDUCE_AXIS})) return {};
  for (const Use& use : uses)
    if (use.kernel != uses[0].kernel) return {};
  UOp host = state_.stored[static_cast<size_t>(uses[0].kernel)].node;
  if (host.device() != u.device()) return {};
  Indices loops = loopsOf(*ranges_.find(host.slot())->out);
  Inside place;
  place.index.resize(u.shape().size());
  size_t kept = 0; // of the kernel's loops
  for (size_t k = 0; k < place.index.size(); ++k) {
    UOp index = (*uses[0].at)[k];
    bool agreed =
        std::all_of(uses.begin(), uses.end(), [&](const Use& use) { return (*use.at)[k] == index; });
    bool isOuter = kept < loops.size() && index == loops[kept];
    if (agreed && (isOuter || index.isConst())) {
      if (isOuter) place.steps *= static_cast<double>(loops[kept++].vmax() + 1);
      place.index[k] = index;
      continue;
    }
    if (!u.shape()[k].isInt()) return {};
    place.elements *= static_cast<double>(u.shape()[k].i());
    place.axes.push_back(k);
  }
  if (!kept || place.elements > kMost) return {};
  return place;
}

/// The loops of a value that its readers' kernel stores for itself; null where it has memory of its own.
const Indices* RangeAssignment::insideKernel(UOp u, const std::vector<Use>& uses, bool agreed) {
  const int64_t level = vars::pcontig;
  if (level < 0 || (level == 0 && vars::plain) || (level == 1 && agreed)) return nullptr;
  std::optional<Inside> place = placeInside(u, uses);
  if (!place || (level == 0 && !staysInRow(u, uses, *place))) return nullptr;
  for (size_t k : place->axes)
    place->index[k] = UOp::range(u.shape()[k].uop(), {state_.nextRange++}, AxisType::Loop);
  if (!place->axes.empty()) inner_[u] = place->axes;
  return intern(std::move(place->index));
}

} // namespace uopscope::sched
