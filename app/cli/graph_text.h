// Writes a graph as DOT, and draws DOT as a picture. Graphviz runs as a separate process with a time limit,
// since it takes minutes on layered graphs with hubs.
#pragma once
#include "app/cli/cli.h"

namespace uopscope::cli {

/// Writes constants into the nodes that use them. With a difference, colour, shape and line style mark added,
/// removed and changed nodes; removed nodes are drawn too.
std::string dotText(Cursor& cursor, int64_t step, const GraphDiff* difference);
/// Output of `dot -T<format>`. Throws Error(Runtime) where dot is missing, fails, or takes too long.
std::string runDot(const std::string& dot, const std::string& format, int seconds);

} // namespace uopscope::cli
