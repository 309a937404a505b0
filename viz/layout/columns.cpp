// Only whole ranks move, so edges within a band keep their bends. Edges from one band to another get new ones: out
// below their source's rank, along the gap between columns, in above their user's rank.
#include "viz/layout/columns.h"

#include <algorithm>
#include <vector>

namespace uopscope {
namespace {

constexpr uint32_t kMostColumns = 8;
/// Room between columns: at both sides, and for each edge that runs there.
constexpr float kSide = 18, kTrack = 7;
/// Distance of a turning edge from the boxes above and below it.
constexpr float kAway = 9;
/// A column more has to make the picture this much larger.
constexpr float kWorth = 1.12f;

struct Band {
  float top = 0, bottom = 0, left = 0, right = 0; ///< in the layout as it was
  float x = 0, y = 0;                             ///< moves by this much
};

struct Rank {
  float top = 1e30f, bottom = -1e30f, left = 1e30f, right = -1e30f;
};

std::vector<Rank> ranksOf(const Layout& l, std::span<const LayoutNode> nodes) {
  std::vector<Rank> out(l.rankCount);
  for (size_t v = 0; v < nodes.size(); ++v) {
    Rank& r = out[l.rank[v]];
    r.top = std::min(r.top, l.centres[v].y - nodes[v].height / 2);
    r.bottom = std::max(r.bottom, l.centres[v].y + nodes[v].height / 2);
    r.left = std::min(r.left, l.centres[v].x - nodes[v].width / 2);
    r.right = std::max(r.right, l.centres[v].x + nodes[v].width / 2);
  }
  return out;
}

/// The band of each rank, where no band is taller than `most`; the number of bands.
uint32_t cut(const std::vector<Rank>& ranks, float most, std::vector<uint32_t>& bandOf) {
  uint32_t band = 0;
  float top = 0;
  bool begun = false;
  bandOf.assign(ranks.size(), 0);
  for (size_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].top > ranks[r].bottom) { // an empty rank
      bandOf[r] = band;
      continue;
    }
    if (!begun) top = ranks[r].top, begun = true;
    if (ranks[r].bottom - top > most) ++band, top = ranks[r].top;
    bandOf[r] = band;
  }
  return band + 1;
}

struct Plan {
  std::vector<uint32_t> bandOf;
  std::vector<Band> bands;
  std::vector<float> gaps; ///< width of the gap after each band
  float width = 0, height = 0, zoom = 0;
};

Plan planOf(const Layout& l, const std::vector<Rank>& ranks, std::span<const LayoutEdge> edges,
            uint32_t columns) {
  Plan p;
  float tallest = 0;
  for (const Rank& r : ranks)
    if (r.bottom > r.top) tallest = std::max(tallest, r.bottom - r.top);
  // The least height that needs no more bands: ranks have different heights.
  float low = tallest, high = l.height;
  for (int k = 0; k < 24; ++k) {
    const float middle = (low + high) / 2;
    (cut(ranks, middle, p.bandOf) > columns ? low : high) = middle;
  }
  p.bands.resize(cut(ranks, high, p.bandOf));
  for (Band& b : p.bands) b = {1e30f, -1e30f, 1e30f, -1e30f, 0, 0};
  for (size_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].top > ranks[r].bottom) continue;
    Band& b = p.bands[p.bandOf[r]];
    b.top = std::min(b.top, ranks[r].top), b.bottom = std::max(b.bottom, ranks[r].bottom);
    b.left = std::min(b.left, ranks[r].left), b.right = std::max(b.right, ranks[r].right);
  }
  for (size_t e = 0; e < edges.size(); ++e) { // lanes within a band may run beside its boxes
    Band& b = p.bands[p.bandOf[l.rank[edges[e].from]]];
    if (p.bandOf[l.rank[edges[e].to]] == p.bandOf[l.rank[edges[e].from]])
      for (const LayoutPoint& at : l.bends[e])
        b.left = std::min(b.left, at.x), b.right = std::max(b.right, at.x);
  }
  p.gaps.assign(p.bands.size(), 2 * kSide);
  for (const LayoutEdge& e : edges) {
    const uint32_t from = p.bandOf[l.rank[e.from]], to = p.bandOf[l.rank[e.to]];
    if (from != to) p.gaps[from] += kTrack;
  }
  for (size_t k = 0; k < p.bands.size(); ++k) {
    Band& b = p.bands[k];
    b.x = p.width - b.left, b.y = 2 * kAway - b.top;
    p.width += b.right - b.left + (k + 1 < p.bands.size() ? p.gaps[k] : 0);
    p.height = std::max(p.height, b.bottom - b.top + 4 * kAway);
  }
  return p;
}

} // namespace

void setInColumns(Layout& l, std::span<const LayoutNode> nodes, std::span<const LayoutEdge> edges,
                  float paneWidth, float paneHeight) {
  if (l.rankCount < 4 || l.curved || l.cancelled || paneWidth <= 0 || paneHeight <= 0) return;
  auto zoomOf = [&](float width, float height) { return std::min(paneWidth / width, paneHeight / height); };
  const std::vector<Rank> ranks = ranksOf(l, nodes);
  Plan best;
  float largest = std::min(1.0f, zoomOf(l.width, l.height));
  for (uint32_t columns = 2; columns <= std::min(kMostColumns, l.rankCount); ++columns) {
    Plan p = planOf(l, ranks, edges, columns);
    const float zoom = std::min(1.0f, zoomOf(p.width, p.height));
    if (zoom > largest * kWorth) largest = zoom, best = std::move(p);
  }
  if (best.bands.empty()) return;

  std::vector<float> trackAt(best.bands.size());
  for (size_t k = 0; k < best.bands.size(); ++k) trackAt[k] = best.bands[k].right + best.bands[k].x + kSide;
  std::vector<LayoutPoint> before = l.centres;
  for (size_t v = 0; v < nodes.size(); ++v) {
    const Band& b = best.bands[best.bandOf[l.rank[v]]];
    l.centres[v].x += b.x, l.centres[v].y += b.y;
  }
  for (size_t e = 0; e < edges.size(); ++e) {
    const auto [from, to, port] = edges[e];
    const uint32_t first = best.bandOf[l.rank[from]], last = best.bandOf[l.rank[to]];
    const Band& there = best.bands[last];
    if (first == last) {
      for (LayoutPoint& at : l.bends[e]) at.x += there.x, at.y += there.y;
      continue;
    }
    const float arrives = l.bends[e].empty() ? l.centres[to].x : l.bends[e].back().x + there.x;
    const float track = trackAt[first];
    trackAt[first] += kTrack;
    const float out = ranks[l.rank[from]].bottom + best.bands[first].y + kAway;
    const float in = ranks[l.rank[to]].top + there.y - kAway - 4;
    if (last == first + 1) {
      l.bends[e] = {{track, out}, {arrives, in}};
    } else { // over the columns in between, or back under them
      const float beside = there.left + there.x - kSide / 2;
      l.bends[e] = {{track, out}, {beside, last > first ? 2.0f : best.height - 2}, {arrives, in}};
    }
  }
  l.width = best.width, l.height = best.height;
}

} // namespace uopscope
