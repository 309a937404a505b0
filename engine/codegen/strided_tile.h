// The tile of a reduction together with the steps of strides that are written out for it.
//
// A loop that is read modulo a stride was split by it (split-marked-ranges): the inner loop has the steps of the stride. Once both steps and
// terms are written out, it is known which terms each result has. Few places are left for lanes then, so tiles are priced with all
// such loops, with the inner ones alone, and with none.
//
//   StridedTile chosen = chooseStridedTile(tileAxes(s, k, width), machineOf(s, k, width), false);
//   for (UOp steps : chosen.strides) ...       // UPCAST, before the parts of chosen.tile
#pragma once
#include "engine/codegen/heuristic.h"
#include "engine/codegen/tiling.h"

namespace uopscope::heuristic {

/// The loops around a reduction and those that it sums over, as axes of a tile. `width`: lanes of a register.
std::vector<TileAxis> tileAxes(const KernelOptimizer& s, const KernelShape& k, int64_t width);
TileMachine machineOf(const KernelOptimizer& s, const KernelShape& k, int64_t width);
/// Whether neighbours along `term` lie side by side in memory.
bool areSideBySide(UOp read, UOp term);

struct StridedTile {
  Tile tile;
  std::vector<TileAxis> axes; ///< that are left
  std::vector<UOp> strides;
  std::vector<UOp> deciding; ///< terms that say, with steps beside the lanes, which elements are read
  WrittenOut written;
  double cycles() const { return tile.cycles / static_cast<double>(written.steps); }
};

/// The cheapest tile. `listOthers`: the tiles not chosen are kept. Needs an axis.
StridedTile chooseStridedTile(const std::vector<TileAxis>& axes, const TileMachine& machine, bool listOthers);
/// The sums whose terms are written out: with steps of a stride that lie beside each other, and with lanes that are a whole axis,
/// they say which gates hold.
std::vector<UOp> decidingTerms(const StridedTile& chosen);

} // namespace uopscope::heuristic
