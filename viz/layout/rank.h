// First phase of the layered layout: the rank of each node.
//
// A node's rank is its longest path from the leaves. Nodes with more users than sources are then pulled
// towards their users, which keeps loop variables and buffers beside their readers. Edges that close a cycle
// are reported, to be drawn backwards.
#pragma once
#include "viz/layout/layered.h"

namespace uopscope {

struct Ranking {
  std::vector<uint32_t> rank;    ///< by node, the lowest is 0
  std::vector<uint8_t> reversed; ///< by edge: it closes a cycle, so it counts from `to` to `from`
  std::vector<uint32_t> order;   ///< nodes, each after its sources
  uint32_t rankCount = 0;
};

Ranking rankNodes(std::span<const LayoutNode> nodes, std::span<const LayoutEdge> edges);

} // namespace uopscope
