// Second and third phase of the layered layout: the order of vertices within ranks, and their coordinates
// along the ranks.
//
// A vertex is a node or a bend of a long edge; links join vertices of neighbouring ranks only.
#pragma once
#include "viz/layout/layered.h"

namespace uopscope {

struct RankVertex {
  uint32_t rank = 0;
  float size = 0; ///< along the rank
  bool bend = false;
  uint8_t born = 0, gone = kMoments - 1; ///< as in LayoutNode
};
struct RankLink {
  uint32_t from = 0, to = 0; ///< `to` lies one rank below `from`
  float port = 0;            ///< position of the arrival at `to`, -0.5 (left) to 0.5 (right)
};
struct RankedGraph {
  std::vector<RankVertex> vertices;
  std::vector<RankLink> links;
  std::vector<std::vector<uint32_t>> ranks; ///< vertices in order; filled by orderRanks
};

/// Fills graph.ranks with few crossings. Where possible, sources of a node stand in the order of its ports.
void orderRanks(RankedGraph& graph, uint32_t rankCount, const std::atomic<bool>* cancel);
/// Centres along the rank, by vertex. Neighbours of a common moment keep `gap` between them and stand in the
/// order of the rank; links are as straight as that permits.
std::vector<float> placeInRanks(const RankedGraph& graph, float gap, const std::atomic<bool>* cancel);
/// Number of pairs of links that cross, over all ranks.
uint64_t countCrossings(const RankedGraph& graph);

} // namespace uopscope
