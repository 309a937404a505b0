// A graph as DOT, and DOT as a picture. Graphviz runs as a process of its own with a time limit: it takes
// minutes on layered graphs with hubs.
#pragma once
#include "app/cli/cli.h"

namespace uopscope::cli {

/// Constants are written into the nodes that use them. With a difference, what is added, removed and changed
/// is marked by colour, shape and line style; removed nodes are drawn too.
std::string dotText(Cursor& cursor, int64_t step, const GraphDiff* difference);
/// Output of `dot -T<format>`. Error(Runtime) when there is no dot, when it fails, or when it takes too long.
std::string runDot(const std::string& dot, const std::string& format, int seconds);

} // namespace uopscope::cli
