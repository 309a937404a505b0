// Last phase of the layered layout: edges run straight across the ranks and turn in lanes between them, as on
// a circuit board. All edges of one source share their runs and lanes, so a source with many users draws a
// few lines, not a fan; a run keeps clear of boxes, and turns only where it must.
//
//   Lanes lanes(graph, along, sources, users, 7);  // runs, and who turns where
//   gap[r] = ... lanes.tracks(r) ...               // how much room there must be between ranks
//   lanes.turns(users[0], turns);                  // of one edge
#pragma once
#include "viz/layout/order.h"

#include <algorithm>

namespace uopscope {

/// A source, and the vertices its long edges pass: a chain of consecutive numbers, one in each rank below it.
struct LaneSource {
  uint32_t vertex = 0, chain = 0, length = 0;
};
/// Where an edge of the source arrives: `away` from the centre of `to`, along its rank.
struct LaneUser {
  uint32_t source = 0; ///< index into the sources
  uint32_t to = 0;
  float away = 0;
};

class Lanes {
public:
  Lanes(const RankedGraph& graph, std::span<const float> along, std::span<const LaneSource> sources,
        std::span<const LaneUser> users, float space);

  /// Lanes side by side between a rank and the next one.
  uint32_t tracks(uint32_t rank) const { return tracks_[rank]; }
  /// Turns of an edge, in order: (where it goes on, share of the gap below `rank` at which it turns).
  struct Turn {
    float along = 0, share = 0;
    uint32_t rank = 0;
  };
  void turns(const LaneUser& user, std::vector<Turn>& out) const;

private:
  struct Lane {
    float low = 1e30f, high = -1e30f, from = 0;
    uint32_t track = 0;
    bool turns() const { return high - low > 1; }
    void reach(float at) { low = std::min(low, at), high = std::max(high, at); }
  };
  /// How far a vertex of a chain may move along its rank without touching a box that is there with it.
  std::pair<float, float> room(uint32_t vertex) const;
  void straighten(const LaneSource& source, float arrival);
  void assignTracks(std::vector<uint32_t>& lanes, uint32_t rank);

  const RankedGraph& graph_;
  std::vector<float> along_; ///< of chains: where they run
  std::span<const LaneSource> sources_;
  float space_;
  std::vector<std::vector<uint32_t>> boxes_; ///< by rank: vertices that are nodes, in order
  std::vector<uint32_t> boxesBefore_;        ///< by vertex: nodes of its rank that stand before it
  std::vector<Lane> lanes_;         ///< of a source consecutively: from its rank on, one for each rank
  std::vector<uint32_t> firstLane_; ///< by source
  std::vector<uint32_t> tracks_;
};

} // namespace uopscope
