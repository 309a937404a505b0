// Opts of a kernel that goes through stages in each step of a loop that carries results along, as a streamed softmax does
// (streams.h): each stage fills memory of the kernel in loops of its own, which become lanes and rows of a tile of its own.
//
//   for blocks of keys: { for k: for q: s[k, q] = sum of ...;   for q: m[q] = max of s[k, q];   for q: for c: acc[q, c] += ... }
#include "engine/codegen/heuristic.h"
#include "engine/codegen/memory.h"
#include "engine/codegen/tiling.h"
#include "engine/uop/visit.h"

#include <algorithm>

namespace uopscope::heuristic {

namespace {

/// A store and the loops that are around it alone.
struct Stage {
  UOp store;
  std::vector<UOp> loops;
};

std::vector<Stage> stagesOf(const KernelOptimizer& s) {
  std::vector<UOp> ends;
  for (UOp u : s.ast().toposort())
    if (u.is(Op::END) && u.src(0).is(Op::STORE)) ends.push_back(u);
  std::vector<Stage> stages;
  for (UOp end : ends) {
    Stage stage{end.src(0), {}};
    for (UOp r : rangesIn(end.src().subspan(1))) {
      const bool isShared = std::ranges::any_of(ends, [&](UOp e) { return e != end && isOpen(e.src(0), r); });
      if (r.axisType() == AxisType::Loop && extentOf(r) > 1 && !isShared) stage.loops.push_back(r);
    }
    stages.push_back(std::move(stage));
  }
  return stages;
}

/// The reads of a stage, without those of what its memory waits for.
std::vector<UOp> readsOfStage(UOp value) {
  std::vector<UOp> reads;
  visitBelow(value, [&](UOp u) {
    if (u.is(Op::INDEX)) reads.push_back(u);
    return u.is(Op::INDEX) || u.is(Op::AFTER) ? Visit::Past : Visit::Below;
  });
  return reads;
}

/// The reduction of a stage; null if it has none.
UOp reductionOf(UOp value) {
  UOp found;
  visitBelow(value, [&](UOp u) {
    if (u.is(Op::REDUCE)) found = u;
    return u.in({Op::INDEX, Op::AFTER, Op::REDUCE}) ? Visit::Past : Visit::Below;
  });
  return found;
}

void upcast(KernelOptimizer& s, UOp range, int64_t amount, const Decision& why) {
  const int64_t extent = extentOf(range);
  if (amount < 2 || extent < 2) return;
  int64_t divisor = std::min(amount, extent);
  while (extent % divisor) --divisor;
  if (2 * divisor <= amount && extent > amount && tryOverlap(s, OptOp::UPCAST, axisOf(s, range), amount, why))
    return;
  if (divisor > 1) tryApply(s, OptOp::UPCAST, axisOf(s, range), divisor, why);
}

void chooseForStage(KernelOptimizer& s, const Stage& stage, int64_t width) {
  UOp lanes, rows;
  for (UOp r : stage.loops)
    if (strideOf(stage.store.src(0), r) == 1) lanes = r;
  if (!lanes) return;
  const std::vector<UOp> reads = readsOfStage(stage.store.src(1));
  const UOp sum = reductionOf(stage.store.src(1));
  for (UOp r : stage.loops)
    if (r != lanes && (!rows || extentOf(r) > extentOf(rows))) rows = r;
  auto reuses = [&](UOp loop) {
    return std::ranges::any_of(readsOfStage(sum.src(0)), [&](UOp read) { return !read.dependsOn(loop); });
  };
  if (sum && rows && reuses(rows) && reuses(lanes)) {
    const Decision why = inWords("a tile of the stage: each number that is loaded serves several results");
    upcast(s, rows, mostTileRegisters(vectorRegisters(s.target())) / 2, why);
    upcast(s, lanes, 2 * width, why);
    return;
  }
  const bool isTurned = rows && std::ranges::any_of(reads, [&](UOp read) {
                          return strideOf(read, rows) == 1 && strideOf(read, lanes) > 1;
                        });
  if (isTurned)
    upcast(s, rows, width,
           inWords("what the stage reads along one loop and writes along the other goes by squares"));
  upcast(s, lanes, sum ? 4 * width : width, inWords("rows of a block lie side by side"));
}

} // namespace

bool hasStages(const KernelOptimizer& s) {
  if (s.reduces().empty() || !s.ast().below().has(Op::DEFINE_REG)) return false;
  return std::ranges::any_of(s.ast().toposort(), [](UOp u) {
    return u.is(Op::STORE) && u.src(0).bufferOf().is(Op::DEFINE_REG) && reductionOf(u.src(1));
  });
}

void chooseForStages(KernelOptimizer& s, int64_t width) {
  // An Opt makes new nodes, in the same order.
  const size_t count = stagesOf(s).size();
  for (size_t i = 0; i < count; ++i) chooseForStage(s, stagesOf(s)[i], width);
}

} // namespace uopscope::heuristic
