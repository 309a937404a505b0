// The layout of Graphviz' program dot in place of the layered one: ranks like ours, edges as curves. It knows nothing of
// moments, so nodes that never meet get a place each, and it takes seconds where ours takes milliseconds.
//
//   std::string problem;
//   auto l = layoutDot(nodes, edges, options, problem);
//   if (!l) l = layoutLayered(nodes, edges, options);        // `problem` says why
#pragma once
#include "viz/layout/layered.h"

#include <optional>
#include <string>

namespace uopscope {

/// Beyond these `dot` takes longer than a person waits for a step.
constexpr size_t kDotMostNodes = 2500, kDotMostEdges = 8000;
constexpr int kDotSeconds = 20;

/// Layout::bends are control points of curves (Layout::curved). Nothing, and a sentence in `problem`, where the graph is
/// too large or Graphviz fails.
std::optional<Layout> layoutDot(std::span<const LayoutNode> nodes, std::span<const LayoutEdge> edges,
                                const LayoutOptions& options, std::string& problem);

} // namespace uopscope
