// Wires between the same two nodes are drawn as one, so Graphviz gets each pair once.
#include "viz/layout/dot_layout.h"

#include "engine/base/error.h"
#include "viz/graphviz/graphviz.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace uopscope {

std::optional<Layout> layoutDot(std::span<const LayoutNode> nodes, std::span<const LayoutEdge> edges,
                                const LayoutOptions& options, std::string& problem) {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  std::map<std::pair<uint32_t, uint32_t>, size_t> place;
  for (const LayoutEdge& e : edges)
    if (e.from != e.to && place.try_emplace({e.from, e.to}, pairs.size()).second)
      pairs.emplace_back(e.from, e.to);
  if (nodes.size() > kDotMostNodes || pairs.size() > kDotMostEdges) {
    problem = fmt::format("{} nodes, {} edges: Graphviz lays out up to {} and {}", nodes.size(), pairs.size(),
                          kDotMostNodes, kDotMostEdges);
    return std::nullopt;
  }
  std::vector<DotBox> boxes;
  boxes.reserve(nodes.size());
  for (const LayoutNode& n : nodes) boxes.push_back({n.width, n.height});
  DotPlaces at;
  try {
    at = placeDot(boxes, pairs, options.leftToRight, {kDotSeconds, options.cancel});
  } catch (const Error& e) {
    problem = e.what();
    return std::nullopt;
  }
  Layout out;
  out.cancelled = at.stopped;
  if (at.stopped) return out;
  out.curved = true;
  out.width = at.width, out.height = at.height;
  std::map<int, uint32_t> ranks; // nodes of a rank have their centres on one line
  for (const auto& [x, y] : at.centres) {
    out.centres.push_back({x, y});
    ranks.emplace(static_cast<int>(std::lround(options.leftToRight ? x : y)), 0);
  }
  for (auto& [line, number] : ranks) number = out.rankCount++;
  for (const LayoutPoint& c : out.centres)
    out.rank.push_back(ranks.at(static_cast<int>(std::lround(options.leftToRight ? c.x : c.y))));
  out.bends.resize(edges.size());
  for (size_t e = 0; e < edges.size(); ++e) {
    const auto pair = place.find({edges[e].from, edges[e].to});
    if (pair == place.end()) continue;
    for (const auto& [x, y] : at.curves[pair->second]) out.bends[e].push_back({x, y});
  }
  return out;
}

} // namespace uopscope
