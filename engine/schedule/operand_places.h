// Where the elements of an operand lie in memory, seen through the movement operations above it.
//
//   distancesIn(a, a.permute(1, 0).expand(...))     of a 64 x 32: {1, 32, 0}
#pragma once
#include "engine/uop/uop.h"

#include <vector>

namespace uopscope::sched {

/// How far two places of a value lie apart in its memory; `at`: its indices, with loops at `first` and at `second`.
int64_t distanceOf(const std::vector<UOp>& at, const Shape& shape, const UOpMap<UOp>& first,
                   const UOpMap<UOp>& second);
/// How far neighbours along each axis of an operand lie apart in the memory of a value below it. All shapes are numbers.
std::vector<int64_t> distancesIn(UOp value, UOp operand);
/// For each loop, whether it occurs in none of the expressions.
std::vector<bool> axesNotIn(const std::vector<UOp>& expressions, const std::vector<UOp>& loops);
/// Whether a product of so many iterations uses each number of an operand often, if a number is loaded once.
bool isReused(UOp operand, double iterations);

} // namespace uopscope::sched
