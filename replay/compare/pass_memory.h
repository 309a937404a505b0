// Derives the state of a pass from its rewrites, in their order.
//
//   learnBefore(before, after, memory);   then check the rewrite   then learnAfter(before, after, memory);
#pragma once
#include "replay/compare/rewrite_check.h"

namespace uopscope {

/// Learns the loops of tensors that a rewrite mentions.
void learnBefore(UOp before, UOp after, PassMemory& pass);
/// Learns the layouts of values that got memory.
void learnAfter(UOp before, UOp after, PassMemory& pass);

} // namespace uopscope
