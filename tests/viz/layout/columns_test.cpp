// A tall layout is set in columns: nothing overlaps, ranks stay whole, and the picture is larger in its pane.
#include "viz/layout/columns.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace uopscope;

namespace {

struct Chain {
  std::vector<LayoutNode> nodes;
  std::vector<LayoutEdge> edges;
  Layout layout;
};

/// A chain of boxes; every fourth one is read by the third one after it too.
Chain chainOf(uint32_t count) {
  Chain c;
  for (uint32_t k = 0; k < count; ++k) c.nodes.push_back({120.0f + static_cast<float>(k % 3) * 20, 54});
  for (uint32_t k = 0; k + 1 < count; ++k) c.edges.push_back({k, k + 1, 0});
  for (uint32_t k = 0; k + 3 < count; k += 4) c.edges.push_back({k, k + 3, 1});
  c.layout = layoutLayered(c.nodes, c.edges);
  return c;
}

} // namespace

TEST_CASE("columns: a chain of twenty boxes is readable in a small pane") {
  Chain c = chainOf(20);
  const float before = std::min(460 / c.layout.width, 320 / c.layout.height);
  setInColumns(c.layout, c.nodes, c.edges, 460, 320);
  const float now = std::min(460 / c.layout.width, 320 / c.layout.height);
  CHECK(now > 1.5f * before);
  for (size_t a = 0; a < c.nodes.size(); ++a) {
    const LayoutPoint at = c.layout.centres[a];
    CHECK(at.x - c.nodes[a].width / 2 >= -0.5f);
    CHECK(at.x + c.nodes[a].width / 2 <= c.layout.width + 0.5f);
    CHECK(at.y - c.nodes[a].height / 2 >= -0.5f);
    CHECK(at.y + c.nodes[a].height / 2 <= c.layout.height + 0.5f);
    for (size_t b = 0; b < a; ++b) {
      const LayoutPoint other = c.layout.centres[b];
      const bool apart = std::abs(at.x - other.x) >= (c.nodes[a].width + c.nodes[b].width) / 2 ||
                         std::abs(at.y - other.y) >= (c.nodes[a].height + c.nodes[b].height) / 2;
      CHECK(apart);
    }
  }
}

TEST_CASE("columns: wires run beside the boxes of every column") {
  Chain c = chainOf(20);
  setInColumns(c.layout, c.nodes, c.edges, 460, 320);
  for (size_t e = 0; e < c.edges.size(); ++e) {
    LayoutPoint at = c.layout.centres[c.edges[e].from];
    at.y += c.nodes[c.edges[e].from].height / 2;
    const auto& bends = c.layout.bends[e];
    for (size_t k = 0; k < bends.size(); ++k) { // across to the lane, then along it
      const float x = at.x, low = std::min(at.y, bends[k].y) + 1, high = std::max(at.y, bends[k].y) - 1;
      for (size_t v = 0; v < c.nodes.size(); ++v) {
        const bool beside = std::abs(c.layout.centres[v].x - x) >= c.nodes[v].width / 2;
        const bool apart = c.layout.centres[v].y - c.nodes[v].height / 2 >= high ||
                           c.layout.centres[v].y + c.nodes[v].height / 2 <= low;
        CHECK((beside || apart));
      }
      at = bends[k];
    }
  }
}

TEST_CASE("columns: what fits as it is stays as it is") {
  Chain c = chainOf(5);
  const std::vector<LayoutPoint> before = c.layout.centres;
  setInColumns(c.layout, c.nodes, c.edges, 800, 900);
  CHECK(c.layout.centres == before);
  Chain none;
  setInColumns(none.layout, none.nodes, none.edges, 800, 900);
  CHECK(none.layout.centres.empty());
}
