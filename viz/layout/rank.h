// First phase of the layered layout: which rank a node stands in.
//
// Longest path from the leaves, then nodes with more users than sources are pulled towards their users, which
// keeps loop variables and buffers beside what reads them. Edges that close a cycle are reported, to be drawn
// backwards.
#pragma once
#include "viz/layout/layered.h"

namespace uopscope {

struct Ranking {
  std::vector<uint32_t> rank;    ///< by node, the lowest is 0
  std::vector<uint8_t> reversed; ///< by edge: closes a cycle, so it counts from `to` to `from`
  std::vector<uint32_t> order;   ///< nodes, every node after what it depends on
  uint32_t rankCount = 0;
};

Ranking rankNodes(std::span<const LayoutNode> nodes, std::span<const LayoutEdge> edges);

} // namespace uopscope
