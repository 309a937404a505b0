// Follows indices through movement operations, and compares them at two places.
#include "engine/schedule/operand_places.h"

#include "engine/rules/algebra.h"
#include "engine/rules/movement_index.h"
#include "engine/schedule/passes.h"

namespace uopscope::sched {

int64_t distanceOf(const std::vector<UOp>& at, const Shape& shape, const UOpMap<UOp>& first,
                   const UOpMap<UOp>& second) {
  int64_t distance = 0;
  for (size_t k = 0; k < at.size(); ++k)
    distance = distance * shape[k].i() + constantOf(at[k].substitute(second)).value_or(0) -
               constantOf(at[k].substitute(first)).value_or(0);
  return distance;
}

std::vector<int64_t> distancesIn(UOp value, UOp operand) {
  const std::vector<UOp> loops = loopsOver(operand.shape());
  std::vector<UOp> at = loops;
  for (UOp u = operand; u != value; u = u.src(0)) at = movementIndices(u, at);
  const auto places = UOp::sink(at).ranges();
  std::vector<int64_t> distances;
  for (UOp loop : loops) {
    UOpMap<UOp> first, second;
    for (UOp r : places) first[r] = second[r] = UOp::index(0);
    if (second.contains(loop)) second[loop] = UOp::index(1);
    distances.push_back(distanceOf(at, value.shape(), first, second));
  }
  return distances;
}

std::vector<bool> axesNotIn(const std::vector<UOp>& expressions, const std::vector<UOp>& loops) {
  std::vector<bool> unread(loops.size(), true);
  UOp all = UOp::sink(expressions);
  for (UOp r : all.ranges())
    for (size_t k = 0; k < loops.size(); ++k)
      if (loops[k] == r) unread[k] = false;
  return unread;
}

bool isReused(UOp operand, double iterations) {
  constexpr double kFewestUses = 8; // of each loaded number
  return iterations >= kFewestUses * elementCount(sourceOf(operand).shape());
}

} // namespace uopscope::sched
