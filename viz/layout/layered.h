// The layered layout: a directed graph in, positions out. No Qt, no Graphviz, near linear in the graph.
//
// Nodes stand in ranks so that every edge points from a lower rank to a higher one (edges that close a cycle
// point back). Edges turn at right angles in lanes between the ranks; those of one source share a single line
// as far as they go together, so a hub costs one line, not one per user. The same input gives the same output
// on every run and machine.
//
//   std::vector<LayoutNode> nodes(3, {120, 40});
//   std::vector<LayoutEdge> edges{{0, 2, 0}, {1, 2, 1}};     // 0 and 1 are the sources of 2
//   Layout l = layoutLayered(nodes, edges);                   // l.centres[2].y > l.centres[0].y
#pragma once
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace uopscope {

struct LayoutPoint {
  float x = 0, y = 0;
  bool operator==(const LayoutPoint&) const = default;
};
/// A picture that changes over time is divided into this many moments at most.
constexpr uint8_t kMoments = 64;
struct LayoutNode {
  float width = 0, height = 0;
  /// When it is there, both ends included. Nodes that are never there together may stand in one place.
  uint8_t born = 0, gone = kMoments - 1;
};
/// From a node to a user of it; `port` is its position among the user's sources.
struct LayoutEdge {
  uint32_t from = 0, to = 0;
  uint32_t port = 0;
};

struct LayoutOptions {
  float nodeGap = 22; ///< between neighbours of a rank
  float rankGap = 44; ///< between ranks, at least
  bool leftToRight = false;
  /// Where total bends would pass this many per node, the longest edges go straight (Layout::straightEdges
  /// counts them).
  uint32_t bendsPerNode = 12;
  const std::atomic<bool>* cancel =
      nullptr; ///< set by another thread: the layout stops soon and is not to be used
};

struct Layout {
  std::vector<LayoutPoint> centres; ///< by node
  std::vector<uint32_t> rank;       ///< by node
  /// By edge, from `from` to `to`: it goes across the ranks to the point's lane, then along it to the point;
  /// from the last lane to wherever it arrives. Empty: straight.
  std::vector<std::vector<LayoutPoint>> bends;
  float width = 0, height = 0; ///< of everything; the top left corner is 0,0
  uint32_t rankCount = 0;
  uint32_t straightEdges = 0; ///< long edges that were not routed around nodes
  bool cancelled = false;
};

Layout layoutLayered(std::span<const LayoutNode> nodes, std::span<const LayoutEdge> edges,
                     const LayoutOptions& options = {});

} // namespace uopscope
