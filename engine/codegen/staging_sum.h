// The sum of a kernel whose operands are staged: its loop over steps, the core that it uses, how many stages take turns, and the
// reasons that a trace shows.
//
//   const Sum sum = sumOf(ast.toposort());
//   if (sum.steps) ...                         // tiles of a step are copied ahead
#pragma once
#include "engine/codegen/staging_boxes.h"
#include "engine/codegen/staging_stages.h"

namespace uopscope {

/// The one reduction of a kernel and the loop over its steps; null if there are several, or memory of its own.
struct Sum {
  UOp reduction, steps;
};
Sum sumOf(const std::vector<UOp>& nodes);
/// The WMMA of a sum; null if it uses no tensor core.
UOp productOf(const Sum& sum);
/// The core of a WMMA; null if there is no WMMA, or the target has no such core.
const TensorCore* coreOf(UOp product, const Target& target);

/// The steps whose products may be under way when the next step begins: none where results pass operations that a GPU computes
/// with branches, since ptxas then moves sums between registers behind the loop, and waits for products one by one.
int64_t stepsAhead(const std::vector<UOp>& nodes, const Sum& sum);

/// The stages that take turns: two where threads wait for their copies themselves; no count if not even the fewest fit.
Stages chooseStages(const std::vector<StagedTile>& tiles, const Sum& sum, const std::vector<UOp>& nodes,
                    const std::vector<UOp>& threads, int64_t computing, const Target& target);

/// Why the operands of these tiles are staged. The bytes that a group loads for a step say what it saves.
Decision reasonToStage(const std::vector<StagedTile>& tiles, const Sum& sum, int64_t bytes);
/// Why the memory engine copies.
Decision reasonForBoxes(const std::vector<StagedTile>& tiles, const std::vector<TileBoxes>& boxes);
/// Why so many stages take turns.
Decision reasonForStages(const Stages& stages, int64_t computing, int64_t bytes);

} // namespace uopscope
