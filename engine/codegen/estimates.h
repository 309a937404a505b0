// Estimates of the cost of a kernel, read off its linear program: arithmetic operations, bytes moved, and
// bytes of the buffers accessed.
#pragma once
#include "engine/codegen/codegen.h"

#include <optional>

namespace uopscope {

/// The steps of a loop whose extent depends on other loops, on the thread or on data, as the mean of the fewest and the most; 0
/// where data decides between no step and one. None for any other extent.
std::optional<int64_t> usualSteps(UOp extent);

/// How many threads share a kernel, where the node is their number (`core_id`); 0 for any other node.
int64_t threadsBy(UOp u);

Estimates estimate(std::span<const UOp> program);

} // namespace uopscope
