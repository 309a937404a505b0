// How many 32-bit registers a thread of a linear program needs at least: the most values that are alive at
// once.
//
//   registersOf(kernel.uops)      // 12; a compiler takes some more for addresses
//
// A value is alive from its instruction to its last user; one that is used in a loop it was made before stays
// alive to the loop's end. Constants and addresses count nothing.
#pragma once
#include "engine/uop/uop.h"

#include <span>

namespace uopscope {

int64_t registersOf(std::span<const UOp> program);

} // namespace uopscope
