// Runs: the longest series of ranks with a free straight line is taken first, so a chain has few turns.
// Tracks: overlapping lanes lie side by side. Lanes of one direction are ordered so that they do not cross.
#include "viz/layout/lanes.h"

#include <algorithm>
#include <cmath>

namespace uopscope {
namespace {

// Boxes examined on either side of a run. Boxes of other moments may hide one of its own moment behind them.
constexpr size_t kLook = 6;
// More tracks between two ranks would push the ranks too far apart; further lanes share a track.
constexpr uint32_t kMostTracks = 20;
// Distance between the ends of two lanes of one track.
constexpr float kLaneGap = 10;

} // namespace

EdgeLanes::EdgeLanes(const RankedGraph& graph, std::span<const float> along,
                     std::span<const LaneSource> sources, std::span<const LaneUser> users, float space)
    : graph_(graph), along_(along.begin(), along.end()), sources_(sources), space_(space),
      boxes_(graph.ranks.size()), boxesBefore_(graph.vertices.size()), tracks_(graph.ranks.size(), 0) {
  for (size_t r = 0; r < graph.ranks.size(); ++r)
    for (uint32_t v : graph.ranks[r]) {
      boxesBefore_[v] = static_cast<uint32_t>(boxes_[r].size());
      if (!graph.vertices[v].bend) boxes_[r].push_back(v);
    }
  // A chain runs at the arrival of its last user, if it can.
  std::vector<float> arrival(sources.size(), NAN);
  std::vector<uint32_t> last(sources.size(), 0), count(sources.size(), 0);
  for (const LaneUser& u : users) {
    const uint32_t length = graph.vertices[u.to].rank - graph.vertices[sources[u.source].vertex].rank;
    count[u.source] = std::max(count[u.source], length);
    if (length <= last[u.source]) continue;
    last[u.source] = length;
    arrival[u.source] = along[u.to] + u.away;
  }
  for (size_t s = 0; s < sources.size(); ++s) {
    firstLane_.push_back(static_cast<uint32_t>(lanes_.size()));
    lanes_.resize(lanes_.size() + count[s]);
    straighten(sources[s], arrival[s]);
  }
  for (const LaneUser& u : users) {
    const LaneSource& source = sources[u.source];
    const uint32_t rank = graph.vertices[source.vertex].rank, length = graph.vertices[u.to].rank - rank;
    float at = along_[source.vertex];
    for (uint32_t k = 0; k < length; ++k) {
      Lane& lane = lanes_[firstLane_[u.source] + k];
      lane.from = at;
      lane.reach(at);
      at = k + 1 < length ? along_[source.chain + k] : along_[u.to] + u.away;
      lane.reach(at);
    }
  }
  std::vector<std::vector<uint32_t>> byRank(graph.ranks.size());
  for (size_t s = 0; s < sources.size(); ++s)
    for (uint32_t k = 0; k < count[s]; ++k)
      if (lanes_[firstLane_[s] + k].turns())
        byRank[graph.vertices[sources[s].vertex].rank + k].push_back(firstLane_[s] + k);
  for (uint32_t r = 0; r < byRank.size(); ++r) assignTracks(byRank[r], r);
}

std::pair<float, float> EdgeLanes::room(uint32_t v) const {
  const RankVertex& own = graph_.vertices[v];
  const auto& boxes = boxes_[own.rank];
  float low = -1e30f, high = 1e30f;
  auto look = [&](size_t i) {
    const RankVertex& box = graph_.vertices[boxes[i]];
    if (box.gone < own.born || own.gone < box.born) return;
    const float half = box.size / 2 + space_, at = along_[boxes[i]];
    if (at < along_[v])
      low = std::max(low, at + half);
    else
      high = std::min(high, at - half);
  };
  const size_t here = boxesBefore_[v];
  for (size_t away = 1; away <= std::min(here, kLook); ++away) look(here - away);
  for (size_t i = here; i < boxes.size() && i < here + kLook; ++i) look(i);
  return {low, high};
}

void EdgeLanes::straighten(const LaneSource& source, float arrival) {
  float at = along_[source.vertex];
  for (uint32_t k = 0; k < source.length;) {
    auto [low, high] = room(source.chain + k);
    uint32_t end = k + 1;
    for (; end < source.length; ++end) {
      const auto [nextLow, nextHigh] = room(source.chain + end);
      if (std::max(low, nextLow) > std::min(high, nextHigh)) break;
      low = std::max(low, nextLow), high = std::min(high, nextHigh);
    }
    const auto fits = [&](float x) { return low <= x && x <= high; };
    const float own = along_[source.chain + k];
    if (end == source.length && fits(arrival)) {
      at = arrival;
    } else if (!fits(at)) {
      // Runs beside one box get different distances, so that they do not coincide.
      const float aside =
          std::min(static_cast<float>(source.vertex % 4) * 4, std::max(0.f, (high - low) / 2));
      at = low > high ? own : own < low + aside ? low + aside : std::min(own, high - aside);
    }
    for (; k < end; ++k) along_[source.chain + k] = at;
  }
}

void EdgeLanes::assignTracks(std::vector<uint32_t>& lanes, uint32_t rank) {
  struct Taken {
    float low, high;
    bool right;
  };
  std::vector<std::vector<Taken>> tracks;
  auto goesRight = [](const Lane& l) { return l.high - l.from >= l.from - l.low; };
  // Of lanes to the right, the one that starts furthest right lies on top; lanes to the left are mirrored.
  std::sort(lanes.begin(), lanes.end(), [&](uint32_t a, uint32_t b) {
    const Lane &x = lanes_[a], &y = lanes_[b];
    const bool r = goesRight(x);
    if (r != goesRight(y)) return r;
    if (x.from != y.from) return r ? x.from > y.from : x.from < y.from;
    return a < b;
  });
  auto meets = [&](const std::vector<Taken>& track, const Lane& l, bool sameWay, bool right) {
    auto it = std::lower_bound(track.begin(), track.end(), l.low - kLaneGap,
                               [](const Taken& t, float at) { return t.high < at; });
    for (; it != track.end() && it->low < l.high + kLaneGap; ++it)
      if (!sameWay || it->right == right) return true;
    return false;
  };
  for (uint32_t index : lanes) {
    Lane& l = lanes_[index];
    const bool right = goesRight(l);
    uint32_t t = static_cast<uint32_t>(tracks.size());
    while (t > 0 && !meets(tracks[t - 1], l, true, right)) --t;
    while (t < tracks.size() && meets(tracks[t], l, false, right)) ++t;
    if (t >= kMostTracks) {
      l.track = index % kMostTracks;
      continue;
    }
    if (t == tracks.size()) tracks.emplace_back();
    l.track = t;
    auto& track = tracks[t];
    track.insert(std::lower_bound(track.begin(), track.end(), l.low,
                                  [](const Taken& a, float at) { return a.low < at; }),
                 {l.low, l.high, right});
  }
  tracks_[rank] = static_cast<uint32_t>(tracks.size());
}

void EdgeLanes::turns(const LaneUser& user, std::vector<Turn>& out) const {
  out.clear();
  const LaneSource& source = sources_[user.source];
  const uint32_t rank = graph_.vertices[source.vertex].rank, length = graph_.vertices[user.to].rank - rank;
  float at = along_[source.vertex];
  for (uint32_t k = 0; k < length; ++k) {
    const bool arrives = k + 1 == length;
    const float next = arrives ? along_[user.to] + user.away : along_[source.chain + k];
    const Lane& lane = lanes_[firstLane_[user.source] + k];
    const uint32_t tracks = tracks_[rank + k];
    // The last turn is always stored, since the box of the moment decides where exactly an edge arrives.
    if (arrives || std::abs(next - at) > 0.5f)
      out.push_back({next,
                     lane.turns()
                         ? (static_cast<float>(lane.track) + 0.5f) / static_cast<float>(std::max(1u, tracks))
                         : 0.5f,
                     rank + k});
    at = next;
  }
}

} // namespace uopscope
