// A stored compilation told to a recorder once more: it makes a trace of it, which cursors, pictures and the
// window work on. The other way is stored_compilations.h.
//
//   traceOf(corpus.load(entry), "kernel.uoptrace");
//
// A story says which rewrites were made, not whether on the way up or down; that is found from their order: a
// node that is rewritten before something below it was rewritten on the way down. Where a pass stopped its
// descent is not known, so between the rewrites of a pass that does, a graph may differ from what the engine
// held; those at the beginnings of passes are exact.
#pragma once
#include "replay/record/capture.h"

namespace uopscope {

/// Writes the trace of one compilation. Error(Value) for operations that this build does not know.
void traceOf(const Compilation& compilation, const std::string& path);

} // namespace uopscope
