// Neighbours of vertices as one flat array, which every phase of the layout walks.
//
//   Adjacency users(count, edges, /*outgoing=*/true);
//   for (uint32_t e : users.of(v)) ... edges[e].to ...
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace uopscope {

class Adjacency {
public:
  Adjacency() = default;
  /// Indices of edges by the vertex they leave (outgoing) or enter, in the order of the edges.
  template <typename Edge>
  Adjacency(size_t vertices, std::span<const Edge> edges, bool outgoing)
      : start_(vertices + 1), edge_(edges.size()) {
    for (const Edge& e : edges) ++start_[(outgoing ? e.from : e.to) + 1];
    for (size_t v = 0; v < vertices; ++v) start_[v + 1] += start_[v];
    std::vector<uint32_t> next(start_.begin(), start_.end() - 1);
    for (size_t i = 0; i < edges.size(); ++i)
      edge_[next[outgoing ? edges[i].from : edges[i].to]++] = static_cast<uint32_t>(i);
  }
  std::span<const uint32_t> of(uint32_t v) const {
    return {edge_.data() + start_[v], edge_.data() + start_[v + 1]};
  }
  size_t degree(uint32_t v) const { return start_[v + 1] - start_[v]; }

private:
  std::vector<uint32_t> start_, edge_;
};

} // namespace uopscope
