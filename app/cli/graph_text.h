// A graph of a trace as one for Graphviz, to be written as DOT or drawn.
//
//   writeDot(dotGraph(cursor, 3, nullptr));   drawDot(dotGraph(cursor, 3, &difference), "svg");
#pragma once
#include "app/cli/cli.h"
#include "viz/graphviz/graphviz.h"

namespace uopscope::cli {

/// Constants stand in the labels of the nodes that use them. With a difference, colour, shape and line style mark
/// added, removed and changed nodes; removed nodes are drawn too.
DotGraph dotGraph(Cursor& cursor, int64_t step, const GraphDiff* difference);

} // namespace uopscope::cli
