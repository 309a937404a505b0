// Makes a trace of a stored compilation by replaying its events to a recorder, so that cursors, pictures and
// the window can show it. stored_compilations.h goes the opposite way.
//
//   traceOf(corpus.load(entry), "kernel.uoptrace");
//
// A story does not tell whether a rewrite was made on the way up or down, so the order of rewrites decides: a
// node that is rewritten before a node below it was rewritten on the way down. A story does not tell either
// where a pass stopped its descent. Between the rewrites of such a pass a graph may differ from the engine's;
// graphs at the beginnings of passes are exact.
#pragma once
#include "replay/record/capture.h"

namespace uopscope {

/// Writes the trace of one compilation. Throws Error(Value) for operations that this build does not know.
void traceOf(const Compilation& compilation, const std::string& path);

} // namespace uopscope
