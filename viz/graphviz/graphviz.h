// Graphviz at work: files of others are read, graphs are laid out and drawn. The libraries cgraph and gvc run in a
// small program of their own, uopscope-graphviz, which is killed when it takes too long, too much memory, or when
// nobody waits any more. A fault of Graphviz ends that program alone.
//
//   DotGraph g = readDot(text);                                   // of anybody
//   std::string svg = drawDot(g, "svg", {.seconds = 30});
//   DotPlaces at = placeDot({{120, 40}, {80, 40}}, {{0, 1}}, {}); // at.centres[1].second > at.centres[0].second
#pragma once
#include "viz/graphviz/dot_graph.h"

#include <atomic>
#include <span>

namespace uopscope {

struct GraphvizLimits {
  int seconds = 30;
  const std::atomic<bool>* stop = nullptr; ///< another thread sets it
};

/// As parseDot(), for a text of unknown origin. Error(Value): it is no graph, or too large a graph. Error(Runtime):
/// Graphviz took too long or failed.
DotGraph readDot(const std::string& text, const GraphvizLimits& limits = {.seconds = 20});

/// A picture of the graph: "svg", "png" or "pdf". Error(Runtime) as above.
std::string drawDot(const DotGraph& graph, const std::string& format, const GraphvizLimits& limits = {});

struct DotBox {
  float width = 0, height = 0; ///< pixels
};
using DotPoint = std::pair<float, float>; ///< x, y from the top left corner
struct DotPlaces {
  std::vector<DotPoint> centres; ///< by box
  /// By edge: 3n + 1 control points of a curve from `from` to `to`; empty where Graphviz drew none.
  std::vector<std::vector<DotPoint>> curves;
  float width = 0, height = 0;
  bool stopped = false; ///< the limits' `stop` was set, and the places must not be used
};
/// Layout by Graphviz' `dot`. Error(Value) where an edge names no box, Error(Runtime) as above.
DotPlaces placeDot(std::span<const DotBox> boxes, std::span<const std::pair<uint32_t, uint32_t>> edges,
                   bool leftToRight, const GraphvizLimits& limits = {});

} // namespace uopscope
