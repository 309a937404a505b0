// add control flow: loops that follow one another in a block are chained, each RANGE behind the END of the
// one before, so that the graph alone says in which order they run.
#pragma once
#include "engine/codegen/loop_tree.h"
#include "engine/rewrite/matcher.h"

namespace uopscope {

struct ControlFlowContext {
  UOpMap<UOp> before; ///< RANGE -> END of the loop that comes before it
};
ControlFlowContext orderLoops(UOp sink);
std::span<const RuleDef> controlFlowRules(); ///< needs ControlFlowContext; applied on the way down

} // namespace uopscope
