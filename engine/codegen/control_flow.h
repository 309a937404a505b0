// The pass "add control flow". Loops that follow one another in a block become a chain: the RANGE of each
// loop gets the END of the previous loop as a source, so the graph alone determines the order of loops.
//
//   END(a), END(b)  ->  END(a), RANGE b with the source END(a), END(b)
#pragma once
#include "engine/codegen/loop_tree.h"
#include "engine/rewrite/matcher.h"

namespace uopscope {

struct ControlFlowContext {
  UOpMap<UOp> before; ///< RANGE -> END of the previous loop
};
ControlFlowContext orderLoops(UOp sink);
std::span<const RuleDef> controlFlowRules(); ///< needs ControlFlowContext; applied on the way down

} // namespace uopscope
