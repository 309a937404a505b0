// Last phase of the layered layout. Edges run straight across the ranks and turn in lanes between them, as on
// a circuit board. All edges of one source share their runs and lanes, so a source with many users draws a
// few lines, not a fan. A run keeps clear of boxes and turns only where it must.
//
//   EdgeLanes lanes(graph, along, sources, users, 7);  // runs, and the turns of each edge
//   gap[r] = ... lanes.tracks(r) ...               // the room that tracks need between ranks
//   lanes.turns(users[0], turns);                  // of one edge
#pragma once
#include "viz/layout/order.h"

#include <algorithm>

namespace uopscope {

/// A source and its chain: the vertices that its long edges pass, with consecutive numbers, one per rank
/// below.
struct LaneSource {
  uint32_t vertex = 0, chain = 0, length = 0;
};
/// The place where an edge of the source arrives: `away` from the centre of `to`, along its rank.
struct LaneUser {
  uint32_t source = 0; ///< index into the sources
  uint32_t to = 0;
  float away = 0;
};

class EdgeLanes {
public:
  EdgeLanes(const RankedGraph& graph, std::span<const float> along, std::span<const LaneSource> sources,
            std::span<const LaneUser> users, float space);

  /// Number of lanes side by side between a rank and the next one.
  uint32_t tracks(uint32_t rank) const { return tracks_[rank]; }
  /// A turn of an edge: its next position, and the share of the gap below `rank` at which it turns.
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
  /// The interval in which a chain's vertex may move along its rank without touching a box of its moments.
  std::pair<float, float> room(uint32_t vertex) const;
  void straighten(const LaneSource& source, float arrival);
  void assignTracks(std::vector<uint32_t>& lanes, uint32_t rank);

  const RankedGraph& graph_;
  std::vector<float> along_; ///< of chains: their positions
  std::span<const LaneSource> sources_;
  float space_;
  std::vector<std::vector<uint32_t>> boxes_; ///< by rank: vertices that are nodes, in order
  std::vector<uint32_t> boxesBefore_;        ///< by vertex: number of nodes before it in its rank
  std::vector<Lane> lanes_;         ///< lanes of a source are consecutive: one for each rank from its own on
  std::vector<uint32_t> firstLane_; ///< by source
  std::vector<uint32_t> tracks_;
};

} // namespace uopscope
