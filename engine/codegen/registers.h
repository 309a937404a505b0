// A lower bound for the 32-bit registers that a thread of a linear program needs: the largest number of
// values alive at the same time.
//
//   registersOf(kernel.uops)      // 12; a compiler uses some more for addresses
//
// A value is alive from its instruction to its last user. A value made before a loop and used in it stays
// alive to the end of the loop. Constants and addresses do not count.
#pragma once
#include "engine/uop/uop.h"

#include <span>

namespace uopscope {

int64_t registersOf(std::span<const UOp> program);

} // namespace uopscope
