// Finds the boxes of a tile, and makes their copies.
#include "engine/codegen/staging_boxes.h"

#include "engine/codegen/ranges.h"
#include "engine/codegen/shared_operand.h"

#include <algorithm>

namespace uopscope {

namespace {

constexpr int64_t kMostLines = 256, kFewestLines = 8; ///< of a box; lines of an atom

/// Whether the elements side by side stay in one row of a matrix whose rows are `pitch` elements apart.
bool staysInRow(UOp index, int64_t pitch) {
  int64_t most = index.vmin() % pitch;
  for (UOp r : rangesIn(std::span<const UOp>(&index, 1))) {
    const auto c = coefficientOf(index, r);
    if (!c || *c < 0 || extentOf(r) < 1) return false;
    if (*c % pitch == 0) continue;
    if (*c > pitch) return false;
    most += *c * (extentOf(r) - 1);
  }
  return most < pitch;
}

} // namespace

std::optional<TileBoxes> boxesOf(const StagedTile& tile, int64_t stages) {
  if (!tile.isForCore) return {};
  const int64_t itemsize = tile.read.dtype().itemsize(), inRow = kSwizzledRow / itemsize;
  TileBoxes found;
  found.box = {.lines = 1, .pitch = 0, .stage = tile.step, .stages = stages, .columns = inRow};
  // Digits by their place: those of a row, then lines at one distance.
  std::vector<size_t> order(tile.digits.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return tile.digits[a].inShared < tile.digits[b].inShared; });
  for (size_t i : order) {
    const Digit& d = tile.digits[i];
    if (d.inShared < inRow) continue;
    if (found.box.pitch == 0) found.box.pitch = d.stride;
    const bool goesOn = found.others.empty() && d.inShared == inRow * found.box.lines &&
                        d.stride == found.box.pitch * found.box.lines &&
                        found.box.lines * d.extent <= kMostLines;
    if (goesOn)
      found.box.lines *= d.extent;
    else
      found.others.push_back(i), found.count *= d.extent;
  }
  if (found.box.lines < kFewestLines || found.box.pitch * itemsize % kDescriptorUnit ||
      !staysInRow(tile.read.src(1), found.box.pitch))
    return {};
  return found;
}

std::vector<UOp> copiesOfBoxes(const StagedTile& tile, const TileBoxes& boxes, UOp memory, UOp steps,
                               UOp step, UOp isFirst) {
  UOp gate = isFirst;
  if (step.vmax() >= extentOf(steps)) gate = (step < extentOf(steps)) & gate;
  std::vector<UOp> copies;
  for (int64_t number = 0; number < boxes.count; ++number) {
    std::vector<UOp> values(tile.digits.size(), UOp::index(0));
    int64_t rest = number;
    for (size_t i : boxes.others) {
      values[i] = UOp::index(rest % tile.digits[i].extent);
      rest /= tile.digits[i].extent;
    }
    UOpMap<UOp> loops;
    if (step != steps) loops[steps] = step;
    for (size_t i = 0; i < values.size(); ++i) {
      UOp part = values[i] * tile.digits[i].divisor, &loop = loops[tile.digits[i].loop];
      loop = loop ? loop + part : part;
    }
    UOp place = step % boxes.box.stages * tile.step + placeOf(tile, values);
    UOp from = tile.read.src(0).indexed({tile.read.src(1).substitute(loops)});
    copies.push_back(copyBox(memory.indexed({place.validWhere(gate)}), from, boxes.box));
  }
  return copies;
}

} // namespace uopscope
