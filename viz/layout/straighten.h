// Last phase of the layered layout: bends that an edge does not need are taken out, so that long edges run in
// few, wide curves instead of following every rank.
#pragma once
#include "viz/layout/layered.h"

namespace uopscope {

/// Boxes of one rank, by the coordinate along it, ascending.
struct RankBoxes {
  float across = 0, thickness = 0; ///< centre and extent across the rank
  std::vector<std::pair<float, float>> spans;
};
/// Points of an edge, both ends included, as (along, across); bends lie at the centres of ranks `firstRank`,
/// `firstRank`
/// + 1 ... Bends are dropped where the curve between their neighbours keeps `space` away from every box.
void straighten(std::vector<LayoutPoint>& points, uint32_t firstRank, const std::vector<RankBoxes>& ranks,
                float space);

} // namespace uopscope
