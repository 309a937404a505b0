// Where to begin with a trace: one rewrite that can be taken in at a glance and does something, not the place
// where most was rewritten.
//
//   if (ScopeId scope = fullestScope(trace)) if (auto at = openingOf(trace, scope)) show(at->pass,
//   at->step.k);
#pragma once
#include "replay/read/step_search.h"

namespace uopscope {

/// The kernel with most steps; where no kernel has any, the scope with most; 0: nothing was rewritten.
ScopeId fullestScope(const Trace& trace);
/// A decision with its alternatives; failing that any decision, then a rewrite of few nodes into another
/// operation, then the first one. None where nothing was rewritten in the scope.
std::optional<StepPlace> openingOf(Trace& trace, ScopeId scope);

} // namespace uopscope
