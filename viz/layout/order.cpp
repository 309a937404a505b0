// Order: a depth-first walk from the results takes each node's sources in their order, which is close to a
// drawing by hand. A few barycentre sweeps then remove crossings, and the best order seen is kept.
//
// Coordinates: one rank at a time moves to the positions that its neighbours wish. "As close as possible to
// the wishes without overlapping" is a least-squares problem with ordered variables; pooling adjacent
// violators solves it exactly in linear time. Where vertices exist only at some moments, only vertices of a
// common moment keep apart, and the result averages a push to the left and a push to the right: see Moments.
#include "viz/layout/order.h"

#include "viz/layout/adjacency.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace uopscope {
namespace {

// The number of sweeps was chosen on graphs of 1,000 to 10,000 nodes: after the sixth, crossings fall by
// under 1 %; the wishes settle by ten.
constexpr int kOrderSweeps = 6;
constexpr int kPlaceSweeps = 10;
constexpr float kBendPull = 6, kNodePull = 1;

bool stopped(const std::atomic<bool>* cancel) {
  return cancel && cancel->load(std::memory_order_relaxed);
}

void initialOrder(RankedGraph& g, const Adjacency& in, const Adjacency& out) {
  std::vector<uint8_t> seen(g.vertices.size(), 0);
  std::vector<std::pair<uint32_t, uint32_t>> stack;
  std::vector<std::vector<uint32_t>> sources(g.vertices.size());
  for (uint32_t v = 0; v < g.vertices.size(); ++v) {
    auto& s = sources[v];
    for (uint32_t l : in.of(v)) s.push_back(l);
    std::stable_sort(s.begin(), s.end(),
                     [&](uint32_t a, uint32_t b) { return g.links[a].port < g.links[b].port; });
  }
  auto visit = [&](uint32_t root) {
    seen[root] = 1;
    g.ranks[g.vertices[root].rank].push_back(root);
    stack.push_back({root, 0});
    while (!stack.empty()) {
      auto& [v, next] = stack.back();
      if (next == sources[v].size()) {
        stack.pop_back();
        continue;
      }
      const uint32_t src = g.links[sources[v][next++]].from;
      if (seen[src]) continue;
      seen[src] = 1;
      g.ranks[g.vertices[src].rank].push_back(src);
      stack.push_back({src, 0});
    }
  };
  for (uint32_t v = 0; v < g.vertices.size(); ++v)
    if (out.degree(v) == 0 && !seen[v]) visit(v);
  for (uint32_t v = 0; v < g.vertices.size(); ++v)
    if (!seen[v]) visit(v);
}

struct Fenwick {
  std::vector<uint32_t> sum;
  void reset(size_t n) { sum.assign(n + 1, 0); }
  void add(size_t i) {
    for (++i; i < sum.size(); i += i & (~i + 1)) ++sum[i];
  }
  uint64_t upTo(size_t i) const { // number of added indices <= i
    uint64_t s = 0;
    for (++i; i > 0; i -= i & (~i + 1)) s += sum[i];
    return s;
  }
};

uint64_t crossings(const RankedGraph& g, const Adjacency& in, const std::vector<uint32_t>& pos) {
  uint64_t total = 0;
  Fenwick tree;
  std::vector<uint32_t> ends;
  for (size_t r = 1; r < g.ranks.size(); ++r) {
    tree.reset(g.ranks[r - 1].size());
    uint64_t inserted = 0;
    for (uint32_t v : g.ranks[r]) {
      ends.clear();
      for (uint32_t l : in.of(v)) ends.push_back(pos[g.links[l].from]);
      for (uint32_t p : ends) total += inserted - tree.upTo(p);
      for (uint32_t p : ends) tree.add(p), ++inserted;
    }
  }
  return total;
}

} // namespace

uint64_t countCrossings(const RankedGraph& g) {
  const Adjacency in(g.vertices.size(), std::span<const RankLink>(g.links), false);
  std::vector<uint32_t> pos(g.vertices.size());
  for (const auto& rank : g.ranks)
    for (uint32_t i = 0; i < rank.size(); ++i) pos[rank[i]] = i;
  return crossings(g, in, pos);
}

void orderRanks(RankedGraph& g, uint32_t rankCount, const std::atomic<bool>* cancel) {
  g.ranks.assign(rankCount, {});
  const std::span<const RankLink> links(g.links);
  const Adjacency in(g.vertices.size(), links, false), out(g.vertices.size(), links, true);
  initialOrder(g, in, out);

  std::vector<uint32_t> pos(g.vertices.size());
  auto number = [&](const std::vector<uint32_t>& rank) {
    for (uint32_t i = 0; i < rank.size(); ++i) pos[rank[i]] = i;
  };
  for (const auto& rank : g.ranks) number(rank);
  auto best = g.ranks;
  uint64_t bestCrossings = crossings(g, in, pos);

  std::vector<std::pair<float, uint32_t>> keyed;
  auto sweepRank = [&](size_t r, bool down) {
    auto& rank = g.ranks[r];
    keyed.clear();
    for (uint32_t v : rank) {
      const auto near = down ? in.of(v) : out.of(v);
      float sum = 0;
      for (uint32_t l : near)
        sum += down ? static_cast<float>(pos[g.links[l].from])
                    : static_cast<float>(pos[g.links[l].to]) + g.links[l].port * 0.9f;
      keyed.push_back({near.empty() ? static_cast<float>(pos[v]) : sum / static_cast<float>(near.size()), v});
    }
    std::stable_sort(keyed.begin(), keyed.end(), [](auto& a, auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < rank.size(); ++i) rank[i] = keyed[i].second;
    number(rank);
  };
  for (int sweep = 0; sweep < kOrderSweeps && bestCrossings > 0 && !stopped(cancel); ++sweep) {
    if (sweep % 2 == 0)
      for (size_t r = g.ranks.size(); r-- > 0;) sweepRank(r, false);
    else
      for (size_t r = 0; r < g.ranks.size(); ++r) sweepRank(r, true);
    const uint64_t c = crossings(g, in, pos);
    if (c < bestCrossings) {
      bestCrossings = c;
      best = g.ranks;
    }
  }
  g.ranks = std::move(best);
}

namespace {

// Two bends may stand closer, since they are lines, not boxes.
float spaceBetween(const RankVertex& a, const RankVertex& b, float gap) {
  return a.bend && b.bend ? gap * 0.5f : gap;
}

// How far a rank is filled at each moment, seen from one side, while vertices are placed one by one. A vertex
// may share the place of vertices with no common moment. A pass goes through many more nodes than it has at
// any moment, so a picture with room for all would be mostly empty.
class Moments {
public:
  explicit Moments(float gap) : gap_(gap) { clear(); }
  void clear() {
    boxes_.fill(kEmpty);
    bends_.fill(kEmpty);
  }
  /// The smallest position that `v` may take.
  float least(const RankVertex& v) const {
    float box = kEmpty, bend = kEmpty;
    for (size_t t = v.born; t <= v.gone; ++t) {
      box = std::max(box, boxes_[t]);
      bend = std::max(bend, bends_[t]);
    }
    return std::max(box + gap_, bend + (v.bend ? gap_ * 0.5f : gap_)) + v.size / 2;
  }
  void put(const RankVertex& v, float at) {
    auto& filled = v.bend ? bends_ : boxes_;
    for (size_t t = v.born; t <= v.gone; ++t) filled[t] = std::max(filled[t], at + v.size / 2);
  }

private:
  static constexpr float kEmpty = -1e30f;
  float gap_;
  std::array<float, kMoments> boxes_, bends_;
};

// Places one rank of vertices that exist only at some moments: close to their wishes, by a few sweeps.
class Crowd {
public:
  Crowd(const RankedGraph& g, float gap) : g_(g), moments_(gap) {}

  void settle(const std::vector<uint32_t>& rank, const std::vector<float>& wish, std::vector<float>& x) {
    right_.resize(rank.size());
    left_.resize(rank.size());
    moments_.clear();
    for (size_t i = 0; i < rank.size(); ++i) right_[i] = push(rank[i], wish[i]);
    moments_.clear();
    for (size_t i = rank.size(); i-- > 0;) left_[i] = -push(rank[i], -wish[i]);
    for (size_t i = 0; i < rank.size(); ++i) x[rank[i]] = (left_[i] + right_[i]) / 2;
    // Both pushes separate vertices that would have had room, so each vertex moves back as far as its
    // neighbours permit.
    moments_.clear();
    for (size_t i = rank.size(); i-- > 0;) {
      left_[i] = -moments_.least(g_.vertices[rank[i]]);
      moments_.put(g_.vertices[rank[i]], -x[rank[i]]);
    }
    moments_.clear();
    for (size_t i = 0; i < rank.size(); ++i) {
      float& at = x[rank[i]];
      const float least = moments_.least(g_.vertices[rank[i]]);
      at = std::max(least, std::min(wish[i], left_[i]));
      moments_.put(g_.vertices[rank[i]], at);
    }
  }
  float push(uint32_t v, float wish) {
    const float at = std::max(wish, moments_.least(g_.vertices[v]));
    moments_.put(g_.vertices[v], at);
    return at;
  }
  void clear() { moments_.clear(); }

private:
  const RankedGraph& g_;
  Moments moments_;
  std::vector<float> left_, right_;
};

bool comesAndGoes(const RankedGraph& g) {
  return std::ranges::any_of(g.vertices,
                             [](const RankVertex& v) { return v.born > 0 || v.gone + 1 < kMoments; });
}

} // namespace

std::vector<float> placeInRanks(const RankedGraph& g, float gap, const std::atomic<bool>* cancel) {
  const std::span<const RankLink> links(g.links);
  const Adjacency in(g.vertices.size(), links, false), out(g.vertices.size(), links, true);
  std::vector<float> x(g.vertices.size(), 0);
  auto apart = [&](uint32_t a, uint32_t b) {
    return (g.vertices[a].size + g.vertices[b].size) / 2 + spaceBetween(g.vertices[a], g.vertices[b], gap);
  };
  const bool changing = comesAndGoes(g);
  Crowd crowd(g, gap);
  for (const auto& rank : g.ranks) {
    float at = 0;
    crowd.clear();
    for (size_t i = 0; i < rank.size(); ++i)
      if (changing)
        at = std::max(at, x[rank[i]] = crowd.push(rank[i], 0));
      else
        x[rank[i]] = at += i ? apart(rank[i - 1], rank[i]) : 0;
    for (uint32_t v : rank) x[v] -= at / 2;
  }

  struct Block {
    double sum, weight;
    size_t count;
  };
  std::vector<Block> blocks;
  std::vector<double> offset;
  std::vector<float> wish;
  auto settle = [&](const std::vector<uint32_t>& rank, bool up, bool both) {
    blocks.clear();
    offset.assign(rank.size(), 0);
    wish.resize(rank.size());
    for (size_t i = 1; i < rank.size(); ++i) offset[i] = offset[i - 1] + apart(rank[i - 1], rank[i]);
    for (size_t i = 0; i < rank.size(); ++i) {
      const uint32_t v = rank[i];
      double sum = 0, weight = 0;
      auto pull = [&](uint32_t l, uint32_t other, double delta) {
        const double w = g.vertices[v].bend && g.vertices[other].bend ? kBendPull : kNodePull;
        sum += w * (x[other] + delta), weight += w;
        (void)l;
      };
      if (!up || both)
        for (uint32_t l : in.of(v)) pull(l, g.links[l].from, -g.links[l].port * g.vertices[v].size * 0.8f);
      if (up || both)
        for (uint32_t l : out.of(v))
          pull(l, g.links[l].to, g.links[l].port * g.vertices[g.links[l].to].size * 0.8f);
      if (weight == 0) sum = 0.05 * x[v], weight = 0.05; // nothing pulls: stay, but give way
      if (changing) {
        wish[i] = static_cast<float>(sum / weight);
        continue;
      }
      blocks.push_back({sum - weight * offset[i], weight, 1});
      while (blocks.size() > 1) {
        Block& b = blocks.back();
        Block& a = blocks[blocks.size() - 2];
        if (a.sum / a.weight <= b.sum / b.weight) break;
        a.sum += b.sum, a.weight += b.weight, a.count += b.count;
        blocks.pop_back();
      }
    }
    if (changing) return crowd.settle(rank, wish, x);
    size_t i = 0;
    for (const Block& b : blocks)
      for (size_t k = 0; k < b.count; ++k, ++i) x[rank[i]] = static_cast<float>(b.sum / b.weight + offset[i]);
  };
  for (int sweep = 0; sweep < kPlaceSweeps && !stopped(cancel); ++sweep) {
    const bool both = sweep >= kPlaceSweeps - 4;
    if (sweep % 2 == 0)
      for (size_t r = g.ranks.size(); r-- > 0;) settle(g.ranks[r], true, both);
    else
      for (const auto& rank : g.ranks) settle(rank, false, both);
  }
  return x;
}

} // namespace uopscope
