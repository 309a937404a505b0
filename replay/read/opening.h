// Chooses the first step to show of a trace: one rewrite that is small enough to take in at a glance and has
// an effect. The pass with the most steps would be a bad choice.
//
//   if (ScopeId scope = fullestScope(trace)) if (auto at = openingOf(trace, scope)) show(at->pass,
//   at->step.k);
#pragma once
#include "replay/read/step_search.h"

namespace uopscope {

/// The kernel with most steps; where no kernel has any, the scope with most; 0: no scope has a step.
ScopeId fullestScope(const Trace& trace);
/// Prefers a decision with alternatives, then any decision, then a rewrite of few nodes into another
/// operation, then the first rewrite. None where the scope has no step.
std::optional<StepPlace> openingOf(Trace& trace, ScopeId scope);

} // namespace uopscope
