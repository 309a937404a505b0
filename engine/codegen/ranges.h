// Passes over the loops of a kernel before it is optimised.
//
//   split ranges      r % 4 with 4 dividing the extent of r    ->  r = r_outer * 4 + r_inner; r / 4 in a sum of products too
//   simplify ranges   two loops that are only used as one      ->  one loop of the product of their extents
//   flatten range     END or REDUCE over expressions of ranges ->  over the ranges themselves
#pragma once
#include "engine/rewrite/matcher.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace uopscope {

struct SplitRangesContext {
  std::vector<std::pair<UOp, int64_t>> splits; ///< a range and the extent of its new inner part
  /// A range is split once, by the first extent that it is marked with.
  void mark(UOp range, int64_t inner) {
    if (std::ranges::find(splits, range, &std::pair<UOp, int64_t>::first) == splits.end())
      splits.emplace_back(range, inner);
  }
};
std::span<const RuleDef> splitRangeRules(); ///< needs SplitRangesContext
std::span<const RuleDef> flattenRangeRules();
std::span<const RuleDef> simplifyRangeRules();

/// The ranges that the expressions depend on, each once, outer ones first. Ranges that only the extent of a
/// range depends on are left out.
std::vector<UOp> rangesIn(std::span<const UOp> expressions);
/// Where a step of `part` places begins, of `length` places: where steps and parts do not divide them, the last ones begin where the
/// last whole part ends the places. `step`: a RANGE.
UOp startOfPart(UOp step, int64_t part, int64_t length);
/// The END of a kernel that is one loop nest; null of any other. Its SINK names the END once for each of its outputs.
UOp onlyEnd(UOp sink);
/// Whether its iterations are threads of a group.
bool isThread(UOp range);
/// The first id of a range. Outer loops have lower ids.
int64_t idOf(UOp range);
/// The number of a range among the axes of lanes: its id, or one number from all ids of a range that was split. Ranges of
/// different ids have different numbers: (1) is 1, (0, 1) is 1048577.
int64_t axisNumber(UOp range);
/// The UPCAST range around a value that was made lanes last, whose results are neighbours; null if there is none.
UOp lastLanesOf(UOp value);
/// The extent of a range; -1 if it is symbolic.
int64_t extentOf(UOp range);
/// The coefficient of a range in a sum; none if the sum is not linear in it.
std::optional<int64_t> coefficientOf(UOp sum, UOp range);
/// One more than the largest id of a RANGE in the graph, or among these nodes.
int64_t nextRangeId(UOp sink);
int64_t nextRangeId(std::span<const UOp> nodes);
/// One more than the largest number of a DEFINE_REG in the graph, or among these nodes.
int64_t nextRegister(UOp sink);
int64_t nextRegister(std::span<const UOp> nodes);
/// Bytes of all memory of the kernel's own among these nodes: the copies that earlier rewrites made.
int64_t registerBytes(std::span<const UOp> nodes);
/// Memory of the kernel's own for `size` values of this type.
UOp registersOf(DType type, int64_t size, int64_t number);

} // namespace uopscope
