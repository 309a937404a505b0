// Passes over the loops of a kernel before it is optimised.
//
//   split ranges      r % 4 with 4 dividing the extent of r    ->  r = r_outer * 4 + r_inner
//   simplify ranges   two loops that are only used as one      ->  one loop of the product of their extents
//   cut store ranges  a store in a loop compared r < 3         ->  a loop over [0, 3) and one over [3, n)
//   flatten range     END or REDUCE over expressions of ranges ->  over the ranges themselves
#pragma once
#include "engine/rewrite/matcher.h"

#include <optional>

namespace uopscope {

struct SplitRangesContext {
  std::vector<std::pair<UOp, int64_t>> splits; ///< range and the inner extent it is split by
};
std::span<const RuleDef> splitRangeRules(); ///< needs SplitRangesContext
std::span<const RuleDef> flattenRangeRules();
std::span<const RuleDef> simplifyRangeRules();
struct CutRangesContext {
  explicit CutRangesContext(int64_t first) : firstNew(first), nextId(first) {}
  int64_t firstNew, nextId; ///< of ranges that are new
  size_t pieces = 1;        ///< there are so far
};
std::span<const RuleDef> cutStoreRangeRules(); ///< needs CutRangesContext

/// The ranges that expressions are made of, each once, outer ones first; ranges that only
/// the extent of one depends on are left out.
std::vector<UOp> rangesIn(std::span<const UOp> expressions);
/// The first id of a range: loops further out have lower ones.
int64_t idOf(UOp range);
/// Extent of a range; -1 where it is symbolic.
int64_t extentOf(UOp range);
/// Coefficient of a range in a sum; none where it is used in another way.
std::optional<int64_t> coefficientOf(UOp sum, UOp range);
/// One more than the largest id of a RANGE below, or among these nodes.
int64_t nextRangeId(UOp sink);
int64_t nextRangeId(std::span<const UOp> nodes);

} // namespace uopscope
