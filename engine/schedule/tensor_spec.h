// The spec of a valid tensor graph: types and shapes agree, buffers and devices are where they belong. With
// SPEC=1 it is checked before a graph is scheduled and after each pass whose result is a tensor graph.
//
//   verifyTensorGraph(sink, "View Input Graph");    // Error(Spec) naming the node, its neighbours, the pass
#pragma once
#include "engine/rewrite/matcher.h"

namespace uopscope::sched {

const PatternMatcher& tensorSpec();
void verifyTensorGraph(UOp sink, std::string_view pass);

} // namespace uopscope::sched
