// Reads a sum off its kernel, and prices its stages.
#include "engine/codegen/staging_sum.h"

#include "engine/codegen/async_products.h"
#include "engine/codegen/block_order.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/shared_operand.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

/// The terms that a step of tensor cores sums.
int64_t termsOfStep(const Sum& sum) {
  int64_t terms = 1;
  for (UOp r : rangesIn(sum.reduction.src().subspan(1)))
    if (r.axisType() == AxisType::Unroll) terms *= extentOf(r);
  const UOp product = productOf(sum);
  return product ? terms * product.arg().as<WmmaArg>().dims[2] : terms;
}

} // namespace

Sum sumOf(const std::vector<UOp>& nodes) {
  Sum sum;
  for (UOp u : nodes) {
    if (u.is(Op::DEFINE_LOCAL) || u.is(Op::DEFINE_REG) || u.is(Op::BUFFERIZE)) return {};
    if (!u.is(Op::REDUCE)) continue;
    if (sum.reduction) return {};
    sum.reduction = u;
  }
  if (!sum.reduction) return {};
  for (UOp r : rangesIn(sum.reduction.src().subspan(1))) {
    if (r.axisType() == AxisType::Unroll) continue;
    if (r.axisType() != AxisType::Reduce || sum.steps || extentOf(r) < 2) return {};
    sum.steps = r;
  }
  return sum;
}

UOp productOf(const Sum& sum) {
  for (UOp u : sum.reduction.toposort())
    if (u.is(Op::WMMA)) return u;
  return {};
}

const TensorCore* coreOf(UOp product, const Target& target) {
  return product ? coreNamed(target.tensorCores, product.arg().as<WmmaArg>().name) : nullptr;
}

int64_t stepsAhead(const std::vector<UOp>& nodes, const Sum& sum) {
  constexpr OpSet kWithBranches{Op::EXP2, Op::LOG2, Op::SIN, Op::SQRT, Op::RECIPROCAL,
                                Op::FDIV, Op::IDIV, Op::MOD, Op::POW};
  return std::any_of(
             nodes.begin(), nodes.end(),
             [&](UOp u) { return u.in(kWithBranches) && u.dtype().isFloat() && u.dependsOn(sum.reduction); })
             ? 0
             : kProductsAhead;
}

Stages chooseStages(const std::vector<StagedTile>& tiles, const Sum& sum, const std::vector<UOp>& nodes,
                    const std::vector<UOp>& threads, int64_t computing, const Target& target) {
  StagedStep step;
  for (const StagedTile& t : tiles) step.bytes += t.bytes();
  Stages two;
  two.count = 2 * step.bytes <= target.sharedMax ? 2 : 0;
  const TensorCore* core = coreOf(productOf(sum), target);
  if (!core || !target.copiesAsync || tiles.size() != 2 || core->rate == 0) return two;
  step.computing = computing;
  step.products = tiles[0].size * tiles[1].size / termsOfStep(sum);
  int64_t inGroup = 1, results = 1;
  for (UOp t : threads) inGroup *= extentOf(t);
  for (UOp u : nodes)
    if (u.is(Op::RANGE) && u.axisType() == AxisType::Upcast) results *= extentOf(u);
  step.groups = groupsAtOnce(inGroup, results);
  constexpr int64_t kBarriers = 2048; // bytes that barriers of boxes need, alignment included
  return stagesOf(step, core->rate, target.sharedMax - (target.copiesBoxes ? kBarriers : 0),
                  extentOf(sum.steps));
}

Decision reasonToStage(const std::vector<StagedTile>& tiles, const Sum& sum, int64_t bytes) {
  if (!tiles[0].byAddress)
    return {.reason = fmt::format(
                "each element is read by {} threads of a group: {} bytes of shared memory, a barrier a step",
                tiles[0].reuse, bytes)};
  int64_t shared = 0, fromGlobal = 0, loaded = 0, loadedByWarps = 0;
  for (const StagedTile& t : tiles) {
    shared += t.size * t.read.dtype().itemsize();
    fromGlobal += t.size * t.reuse * t.read.dtype().itemsize();
    loaded += t.size;
    loadedByWarps += t.size * t.reuse;
  }
  std::string uses;
  if (tiles.size() == 2) { // rows by terms, and terms by columns: each product uses a value of both
    const double used =
        2 * static_cast<double>(tiles[0].size * tiles[1].size) / static_cast<double>(termsOfStep(sum));
    uses = fmt::format("each value loaded is used {:.0f} times, from global memory {:.0f} times; ",
                       used / static_cast<double>(loaded), used / static_cast<double>(loadedByWarps));
  }
  return {.reason = fmt::format("{}{} bytes of shared memory, a barrier a step", uses, bytes),
          .price = static_cast<double>(shared),
          .unit = "bytes a group loads for a step",
          .others = {{"each warp loads its own operands", static_cast<double>(fromGlobal)}}};
}

Decision reasonForBoxes(const std::vector<StagedTile>& tiles, const std::vector<TileBoxes>& boxes) {
  constexpr int64_t kWarp = 32, kEach = 16; // threads that one instruction is for, bytes that a thread copies
  int64_t count = 0, bytes = 0;
  for (size_t i = 0; i < tiles.size(); ++i) {
    count += boxes[i].count;
    bytes += tiles[i].bytes();
  }
  const int64_t copies = bytes / (kWarp * kEach);
  return {.reason = fmt::format("the memory engine copies a step as {} boxes of up to {} lines", count,
                                std::max(boxes[0].box.lines, boxes[1].box.lines)),
          .price = static_cast<double>(count),
          .unit = "copies that a group begins for a step",
          .others = {{"warps copy 16 bytes a thread", static_cast<double>(copies)}}};
}

Decision reasonForStages(const Stages& stages, int64_t computing, int64_t bytes) {
  const int64_t ahead = stages.count - 1 - computing;
  return {.reason =
              fmt::format("the copies of {} step{} are under way while a step is computed; {} stages of "
                          "{} bytes take turns",
                          ahead, ahead == 1 ? "" : "s", stages.count, bytes),
          .price = stages.cycles,
          .unit = "cycles a step",
          .others = stages.others};
}

} // namespace uopscope
