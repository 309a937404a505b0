// Combines the phases: ranks (rank.h), bends for long edges, order and coordinates (order.h), lanes
// (lanes.h), then positions of nodes and edges. All phases compute with ranks from top to bottom; a layout
// from left to right swaps the axes before and after.
#include "viz/layout/layered.h"

#include "viz/layout/lanes.h"
#include "viz/layout/order.h"
#include "viz/layout/rank.h"

#include <algorithm>
#include <cmath>

namespace uopscope {
namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr float kBendSize = 6;
constexpr float kEdgeSpace = 7; // between an edge and the boxes it passes
// Between ranks: room below boxes, above them (for the numbers of arrows), and for each lane.
constexpr float kBelowBoxes = 12, kAboveBoxes = 20, kLane = 6;

// An edge between ranks: from the lower rank to the higher.
struct Span {
  uint32_t from, to;
};

struct Router {
  RankedGraph graph;
  std::vector<uint32_t>
      chain; ///< by node: its first bend, or kNone; the chain's bends have consecutive numbers
  std::vector<uint32_t> length; ///< of the chain, by node
  std::vector<uint32_t> ports;
  std::vector<uint8_t> routed; ///< by edge
  uint32_t straight = 0;

  Router(std::span<const LayoutNode> nodes, std::span<const LayoutEdge> edges, const Ranking& ranking,
         const LayoutOptions& o)
      : chain(nodes.size(), kNone), length(nodes.size(), 0), ports(nodes.size(), 0), routed(edges.size(), 0) {
    graph.vertices.resize(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i)
      graph.vertices[i] = {ranking.rank[i], o.leftToRight ? nodes[i].height : nodes[i].width, false,
                           nodes[i].born, nodes[i].gone};
    std::vector<uint32_t> reach(nodes.size(), 0); // number of ranks that a node's chain runs through
    std::vector<std::pair<uint8_t, uint8_t>> there(nodes.size(), {kMoments - 1, 0}); // when it is needed
    for (size_t e = 0; e < edges.size(); ++e) {
      const Span s = span(edges[e], ranking.reversed[e]);
      const uint32_t away = ranking.rank[s.to] - ranking.rank[s.from];
      if (away < 2) continue;
      reach[s.from] = std::max(reach[s.from], away - 1);
      auto& [born, gone] = there[s.from];
      const LayoutNode &a = nodes[s.from], &b = nodes[s.to];
      born = std::min(born, std::max(a.born, b.born));
      gone = std::max(gone, std::min(a.gone, b.gone));
    }
    const uint32_t longest = limit(reach, nodes.size(), o.bendsPerNode);
    for (uint32_t v = 0; v < nodes.size(); ++v) {
      length[v] = std::min(reach[v], longest);
      if (length[v] == 0) continue;
      chain[v] = static_cast<uint32_t>(graph.vertices.size());
      for (uint32_t k = 0; k < length[v]; ++k) {
        const uint32_t bend = static_cast<uint32_t>(graph.vertices.size());
        graph.links.push_back({k == 0 ? v : bend - 1, bend, 0});
        graph.vertices.push_back({ranking.rank[v] + 1 + k, kBendSize, true,
                                  std::min(there[v].first, there[v].second),
                                  std::max(there[v].first, there[v].second)});
      }
    }
    for (const LayoutEdge& e : edges) ports[e.to] = std::max(ports[e.to], e.port + 1);
    for (size_t e = 0; e < edges.size(); ++e) {
      const Span s = span(edges[e], ranking.reversed[e]);
      const uint32_t away = ranking.rank[s.to] - ranking.rank[s.from];
      if (away == 0) continue;
      if (away - 1 > longest) {
        ++straight;
        continue;
      }
      routed[e] = 1;
      const float port = ranking.reversed[e] ? 0 : portAt(edges[e].port, ports[s.to]);
      graph.links.push_back({away == 1 ? s.from : chain[s.from] + away - 2, s.to, port});
    }
  }
  static Span span(const LayoutEdge& e, bool reversed) {
    return reversed ? Span{e.to, e.from} : Span{e.from, e.to};
  }
  static float portAt(uint32_t port, uint32_t ports) {
    return ports < 2 ? 0 : static_cast<float>(port) / static_cast<float>(ports - 1) - 0.5f;
  }
  // The longest permitted chain, so that all chains together stay within the budget.
  static uint32_t limit(const std::vector<uint32_t>& reach, size_t nodes, uint32_t perNode) {
    const uint64_t budget = std::max<uint64_t>(4000, nodes * static_cast<uint64_t>(perNode));
    uint32_t longest = 0;
    for (uint32_t r : reach) longest = std::max(longest, r);
    std::vector<uint64_t> atLeast(longest + 2, 0); // chains with at least this many bends
    for (uint32_t r : reach) ++atLeast[r];
    for (size_t i = longest + 1; i-- > 1;) atLeast[i] += atLeast[i + 1];
    uint64_t total = 0;
    for (uint32_t length = 1; length <= longest; ++length)
      if ((total += atLeast[length]) > budget) return length - 1;
    return longest;
  }
};

} // namespace

Layout layoutLayered(std::span<const LayoutNode> nodes, std::span<const LayoutEdge> edges,
                     const LayoutOptions& o) {
  Layout out;
  auto cancelled = [&] { return o.cancel && o.cancel->load(std::memory_order_relaxed); };
  std::vector<LayoutEdge> proper(edges.begin(), edges.end());
  for (LayoutEdge& e : proper)
    if (e.from >= nodes.size() || e.to >= nodes.size()) e.from = e.to = 0; // not drawn, like any self loop

  std::vector<LayoutEdge> acyclic;
  std::vector<uint32_t> original;
  for (uint32_t i = 0; i < proper.size(); ++i)
    if (proper[i].from != proper[i].to) acyclic.push_back(proper[i]), original.push_back(i);
  const Ranking ranking = rankNodes(nodes, acyclic);
  out.rank = ranking.rank;
  out.rankCount = ranking.rankCount;
  out.bends.resize(edges.size());
  out.centres.resize(nodes.size());
  if (nodes.empty() || cancelled()) {
    out.cancelled = cancelled();
    return out;
  }

  Router router(nodes, acyclic, ranking, o);
  out.straightEdges = router.straight;
  orderRanks(router.graph, ranking.rankCount, o.cancel);
  const std::vector<float> along = placeInRanks(router.graph, o.nodeGap, o.cancel);
  if (cancelled()) {
    out.cancelled = true;
    return out;
  }

  std::vector<LaneSource> sources;
  std::vector<LaneUser> users;
  std::vector<uint32_t> sourceOf(nodes.size(), kNone), userOf(acyclic.size(), kNone);
  for (size_t e = 0; e < acyclic.size(); ++e) {
    if (!router.routed[e] || ranking.reversed[e]) continue;
    const LayoutEdge& edge = acyclic[e];
    if (sourceOf[edge.from] == kNone) {
      sourceOf[edge.from] = static_cast<uint32_t>(sources.size());
      sources.push_back({edge.from, router.chain[edge.from], router.length[edge.from]});
    }
    const float reach = std::min(router.graph.vertices[edge.to].size - 20,
                                 26 * static_cast<float>(std::max(1u, router.ports[edge.to]) - 1));
    userOf[e] = static_cast<uint32_t>(users.size());
    users.push_back({sourceOf[edge.from], edge.to, Router::portAt(edge.port, router.ports[edge.to]) * reach});
  }
  const EdgeLanes lanes(router.graph, along, sources, users, kEdgeSpace);

  // A rank is as thick as its thickest node; a gap has room for its lanes.
  std::vector<float> thick(ranking.rankCount, 0), across(ranking.rankCount, 0), gap(ranking.rankCount, 0);
  for (size_t i = 0; i < nodes.size(); ++i)
    thick[ranking.rank[i]] =
        std::max(thick[ranking.rank[i]], o.leftToRight ? nodes[i].width : nodes[i].height);
  float at = 0, low = 0, high = 0;
  for (uint32_t r = 0; r < ranking.rankCount; ++r) {
    across[r] = at + thick[r] / 2;
    at += thick[r];
    out.height = at;
    gap[r] = std::max(o.rankGap, kBelowBoxes + kAboveBoxes + static_cast<float>(lanes.tracks(r)) * kLane);
    at += gap[r];
  }
  for (size_t v = 0; v < along.size(); ++v) {
    low = std::min(low, along[v] - router.graph.vertices[v].size / 2);
    high = std::max(high, along[v] + router.graph.vertices[v].size / 2);
  }
  out.width = high - low;
  for (uint32_t v = 0; v < nodes.size(); ++v) {
    const float a = along[v] - low, b = across[ranking.rank[v]];
    out.centres[v] = o.leftToRight ? LayoutPoint{b, a} : LayoutPoint{a, b};
  }
  std::vector<EdgeLanes::Turn> turns;
  for (size_t e = 0; e < acyclic.size(); ++e) {
    if (userOf[e] == kNone) continue;
    lanes.turns(users[userOf[e]], turns);
    auto& bends = out.bends[original[e]];
    bends.reserve(turns.size());
    for (const EdgeLanes::Turn& t : turns) {
      const float lane = across[t.rank] + thick[t.rank] / 2 + kBelowBoxes +
                         t.share * (gap[t.rank] - kBelowBoxes - kAboveBoxes);
      bends.push_back(o.leftToRight ? LayoutPoint{lane, t.along - low} : LayoutPoint{t.along - low, lane});
    }
  }
  if (o.leftToRight) std::swap(out.width, out.height);
  return out;
}

} // namespace uopscope
