// The layered layout: a directed graph in, positions out. No Qt, no Graphviz, near linear in the graph.
//
// Nodes stand in ranks so that every edge points from a lower rank to a higher one (edges that close a cycle
// point back). Edges turn at right angles in lanes between the ranks. Edges of one source share a line as far
// as they run together, so a hub costs one line, not one per user. The same input gives the same output on
// every run and machine.
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
/// A changing picture is divided into this many moments at most.
constexpr uint8_t kMoments = 64;
struct LayoutNode {
  float width = 0, height = 0;
  /// The first and the last moment of its existence. Nodes that never exist at one moment may share a place.
  uint8_t born = 0, gone = kMoments - 1;
};
/// An edge from a node to one of its users; `port` is the node's position among the user's sources.
struct LayoutEdge {
  uint32_t from = 0, to = 0;
  uint32_t port = 0;
};

struct LayoutOptions {
  float nodeGap = 22; ///< between neighbours of a rank
  float rankGap = 44; ///< between ranks, at least
  bool leftToRight = false;
  /// Where bends would exceed this number per node, the longest edges go straight (Layout::straightEdges
  /// counts them).
  uint32_t bendsPerNode = 12;
  const std::atomic<bool>* cancel =
      nullptr; ///< another thread sets it: the layout stops soon and must not be used
};

struct Layout {
  std::vector<LayoutPoint> centres; ///< by node
  std::vector<uint32_t> rank;       ///< by node
  /// By edge, from `from` to `to`: the edge crosses the ranks to a point's lane, then follows the lane to the
  /// point; from the last lane it goes to its end. Empty: straight.
  std::vector<std::vector<LayoutPoint>> bends;
  /// `bends` are the 3n + 1 control points of a curve, both ends included, instead.
  bool curved = false;
  float width = 0, height = 0; ///< of the whole layout; the top left corner is 0,0
  uint32_t rankCount = 0;
  uint32_t straightEdges = 0; ///< long edges that were not routed around nodes
  bool cancelled = false;
};

Layout layoutLayered(std::span<const LayoutNode> nodes, std::span<const LayoutEdge> edges,
                     const LayoutOptions& options = {});

} // namespace uopscope
