// What a pass remembers between its rewrites, told from the rewrites in order.
//
//   learnBefore(before, after, memory);   then the rewrite is checked   then learnAfter(before, after,
//   memory);
#pragma once
#include "replay/compare/rewrite_check.h"

namespace uopscope {

/// Loops of the tensors that a rewrite mentions.
void learnBefore(UOp before, UOp after, PassMemory& pass);
/// Layouts of values that got memory.
void learnAfter(UOp before, UOp after, PassMemory& pass);

} // namespace uopscope
