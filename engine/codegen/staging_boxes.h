// Tiles as boxes (async_boxes.h): which parts of a tile the memory engine can copy at once.
//
//   if (auto boxes = boxesOf(tile, 4)) ...      // 128 lines of 64 elements are one box
//
// Only tiles that a core reads itself are boxes: their layout in shared memory is the engine's. A box has up to 256 lines at one
// distance in global memory; its 64 elements of a line lie in one row of the matrix that the engine is told of.
#pragma once
#include "engine/codegen/async_boxes.h"
#include "engine/codegen/staging_tile.h"

#include <optional>

namespace uopscope {

struct TileBoxes {
  Box box;
  std::vector<size_t> others; ///< digits of the tile that number its boxes
  int64_t count = 1;          ///< boxes of a tile
};
std::optional<TileBoxes> boxesOf(const StagedTile& tile, int64_t stages);

/// The copies of the boxes of a step, by the thread for which `isFirst` holds, as effects. `place` is where the stage begins,
/// `steps` the loop over steps, and a step that may lie behind the last one is left out.
std::vector<UOp> copiesOfBoxes(const StagedTile& tile, const TileBoxes& boxes, UOp memory, UOp steps,
                               UOp step, UOp isFirst);

} // namespace uopscope
