// Edges are drawn as cubic curves that leave and arrive across the ranks (see edgePath in viz/scene), so what
// is tested here is that curve: at the edges and the centre of every rank it passes.
#include "viz/layout/straighten.h"

#include <algorithm>
#include <cmath>

namespace uopscope {
namespace {

// How many bends one curve may replace. Wider curves cut through what lies between on the screen, and cost
// more to test.
constexpr size_t kReach = 10;

// Share of the way along the rank at a share `u` of the way across it, on the curve with control points
// halfway.
float along(float u) {
  float t = u;
  for (int i = 0; i < 4; ++i) {
    const float y = 1.5f * t - 1.5f * t * t + t * t * t, slope = 1.5f - 3 * t + 3 * t * t;
    t -= (y - u) / slope;
  }
  t = std::clamp(t, 0.f, 1.f);
  return 3 * (1 - t) * t * t + t * t * t;
}

bool free(const RankBoxes& rank, float low, float high) {
  const auto it = std::upper_bound(rank.spans.begin(), rank.spans.end(), low,
                                   [](float at, const auto& s) { return at < s.second; });
  return it == rank.spans.end() || it->first > high;
}

bool clear(LayoutPoint a, LayoutPoint b, uint32_t firstRank, size_t count,
           const std::vector<RankBoxes>& ranks, float space) {
  for (size_t k = 0; k < count; ++k) {
    const RankBoxes& rank = ranks[firstRank + k];
    float low = 1e30f, high = -1e30f;
    for (float side : {-0.5f, 0.f, 0.5f}) {
      const float y = rank.across + side * rank.thickness;
      const float u = std::clamp((y - a.y) / (b.y - a.y), 0.f, 1.f);
      const float x = a.x + (b.x - a.x) * along(u);
      low = std::min(low, x), high = std::max(high, x);
    }
    if (!free(rank, low - space, high + space)) return false;
  }
  return true;
}

} // namespace

void straighten(std::vector<LayoutPoint>& points, uint32_t firstRank, const std::vector<RankBoxes>& ranks,
                float space) {
  if (points.size() < 3) return;
  std::vector<LayoutPoint> kept{points.front()};
  size_t at = 0;
  while (at + 1 < points.size()) {
    size_t next = at + 1;
    for (size_t to = std::min(points.size() - 1, at + 1 + kReach); to > at + 1; --to)
      if (clear(points[at], points[to], firstRank + static_cast<uint32_t>(at), to - at - 1, ranks, space)) {
        next = to;
        break;
      }
    kept.push_back(points[next]);
    at = next;
  }
  points = std::move(kept);
}

} // namespace uopscope
