// Cycles arise where different nodes take one slot over time (see viz/pictures/pass_view.h). They are few, so
// the edge that closes a cycle is simply reversed.
#include "viz/layout/rank.h"

#include "viz/layout/adjacency.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace uopscope {
namespace {

// Walks depth first from the users down to the leaves, without recursion. An edge into a node that is still
// open closes a cycle.
void findCycles(size_t nodeCount, std::span<const LayoutEdge> edges, Ranking& out) {
  enum : uint8_t { kNew, kOpen, kDone };
  const Adjacency sources(nodeCount, edges, false);
  std::vector<uint8_t> state(nodeCount, kNew);
  struct Frame {
    uint32_t node, next;
  };
  std::vector<Frame> stack;
  out.order.reserve(nodeCount);
  for (uint32_t start = 0; start < nodeCount; ++start) {
    if (state[start] != kNew) continue;
    state[start] = kOpen;
    stack.push_back({start, 0});
    while (!stack.empty()) {
      Frame& f = stack.back();
      const auto in = sources.of(f.node);
      if (f.next == in.size()) {
        state[f.node] = kDone;
        out.order.push_back(f.node);
        stack.pop_back();
        continue;
      }
      const uint32_t e = in[f.next++];
      const uint32_t src = edges[e].from;
      if (state[src] == kOpen) {
        out.reversed[e] = 1;
      } else if (state[src] == kNew) {
        state[src] = kOpen;
        stack.push_back({src, 0});
      }
    }
  }
}

// A line of a hundred nodes is unreadable, so a rank with far more nodes than a square picture would have is
// cut into several. Nodes of one rank are not joined, so any cut is correct; neighbours in the order of
// creation stay together. Only nodes of a common moment count.
void splitWide(Ranking& out, std::span<const LayoutNode> nodes) {
  std::map<uint32_t, uint32_t> count;
  for (uint32_t r : out.rank) ++count[r];
  using Crowd = std::array<uint32_t, kMoments>;
  Crowd all{};
  std::map<uint32_t, Crowd> crowd;
  for (uint32_t v = 0; v < nodes.size(); ++v) {
    Crowd& here = crowd.try_emplace(out.rank[v]).first->second;
    for (size_t t = nodes[v].born; t <= nodes[v].gone; ++t) ++here[t], ++all[t];
  }
  const auto most =
      static_cast<uint32_t>(std::max(14.0, 1.6 * std::sqrt(static_cast<double>(std::ranges::max(all)))));
  std::map<uint32_t, std::pair<uint32_t, uint32_t>> place; // rank -> first new rank, nodes in each
  uint32_t next = 0, previous = 0;
  bool first = true;
  for (const auto& [rank, n] : count) {
    if (!first) next += rank - previous - 1; // empty ranks stay
    const uint32_t parts = (std::ranges::max(crowd[rank]) + most - 1) / most;
    place[rank] = {next, (n + parts - 1) / parts};
    next += parts;
    previous = rank;
    first = false;
  }
  std::map<uint32_t, uint32_t> seen;
  for (uint32_t& r : out.rank) {
    const auto [start, each] = place[r];
    r = start + seen[r]++ / each;
  }
}

} // namespace

Ranking rankNodes(std::span<const LayoutNode> nodes, std::span<const LayoutEdge> edges) {
  const size_t nodeCount = nodes.size();
  Ranking out;
  out.rank.assign(nodeCount, 0);
  out.reversed.assign(edges.size(), 0);
  findCycles(nodeCount, edges, out);

  std::vector<LayoutEdge> forward;
  forward.reserve(edges.size());
  for (size_t i = 0; i < edges.size(); ++i)
    if (!out.reversed[i]) forward.push_back(edges[i]);
  const std::span<const LayoutEdge> all(forward);
  const Adjacency in(nodeCount, all, false), users(nodeCount, all, true);

  auto lowest = [&](uint32_t v) {
    uint32_t r = 0;
    for (uint32_t e : in.of(v)) r = std::max(r, out.rank[forward[e].from] + 1);
    return r;
  };
  for (uint32_t v : out.order) out.rank[v] = lowest(v);
  // Two rounds: when a node is pulled down, its own sources follow in the same sweep; nodes left too far
  // below their sources then move up again.
  for (int round = 0; round < 2; ++round) {
    for (auto it = out.order.rbegin(); it != out.order.rend(); ++it) {
      const uint32_t v = *it;
      if (users.degree(v) == 0 || users.degree(v) < in.degree(v)) continue;
      uint32_t r = UINT32_MAX;
      for (uint32_t e : users.of(v)) r = std::min(r, out.rank[forward[e].to] - 1);
      out.rank[v] = r;
    }
    for (uint32_t v : out.order)
      if (users.degree(v) < in.degree(v)) out.rank[v] = lowest(v);
  }
  splitWide(out, nodes);
  uint32_t first = UINT32_MAX, last = 0;
  for (uint32_t r : out.rank) first = std::min(first, r), last = std::max(last, r);
  if (nodeCount)
    for (uint32_t& r : out.rank) r -= first;
  out.rankCount = nodeCount ? last - first + 1 : 0;
  return out;
}

} // namespace uopscope
