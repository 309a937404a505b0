// The spec of a valid tensor graph: types, shapes that agree, buffers and devices where they belong. SPEC=1
// asks before a graph is scheduled and after the passes that leave a tensor graph.
//
//   verifyTensorGraph(sink, "View Input Graph");    // Error(Spec) naming the node, its neighbours, the pass
#pragma once
#include "engine/rewrite/matcher.h"

namespace uopscope::sched {

const PatternMatcher& tensorSpec();
void verifyTensorGraph(UOp sink, std::string_view pass);

} // namespace uopscope::sched
