// Chooses the reads that are staged, and makes the copies of a step.
#include "engine/codegen/staging.h"

#include "engine/base/error.h"
#include "engine/codegen/async_copy.h"
#include "engine/codegen/async_products.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/shared_operand.h"
#include "engine/codegen/staging_boxes.h"
#include "engine/codegen/staging_sum.h"
#include "engine/codegen/staging_tile.h"
#include "engine/rewrite/replacement.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

/// The threads of a group, in order of their part in the thread number, the fastest first.
std::vector<UOp> threadsOf(UOp ast) {
  std::vector<UOp> threads;
  for (UOp u : ast.toposort())
    if (u.is(Op::RANGE) && isThread(u)) threads.push_back(u);
  std::sort(threads.begin(), threads.end(), [](UOp a, UOp b) {
    bool warpA = a.axisType() == AxisType::Warp, warpB = b.axisType() == AxisType::Warp;
    return warpA != warpB ? warpA : a.arg().as<RangeArg>().ids > b.arg().as<RangeArg>().ids;
  });
  return threads;
}

/// The copies of a kernel's tiles. Every copy has ranges of its own, which become lanes.
class Copies {
public:
  Copies(const std::vector<UOp>& threads, UOp steps, int64_t stages, int64_t nextId)
      : threads_(threads), steps_(steps), stages_(stages), nextId_(nextId) {}

  /// The copy of this thread's part of the tile of a step, as an effect. A step that may lie behind the last
  /// one gets a gate.
  UOp copy(const StagedTile& tile, UOp memory, UOp step, bool isAsync) {
    int64_t group = 1;
    UOp number = UOp::index(0);
    for (UOp t : threads_) {
      number = number + t * group;
      group *= extentOf(t);
    }
    int64_t rounds = tile.size / group / tile.vector;
    std::vector<UOp> own;
    UOp element = number;
    if (rounds > 1) {
      own.push_back(UOp::range(rounds, nextId_++, AxisType::Upcast));
      element = own.back() * group + element;
    }
    if (tile.vector > 1) {
      own.push_back(UOp::range(tile.vector, nextId_++, AxisType::Upcast));
      element = element * tile.vector + own.back();
    }
    const std::vector<UOp> values = valuesOfElement(tile, element);
    UOpMap<UOp> loops;
    if (step != steps_) loops[steps_] = step;
    for (size_t i = 0; i < values.size(); ++i) {
      UOp part = values[i] * tile.digits[i].divisor, &loop = loops[tile.digits[i].loop];
      loop = loop ? loop + part : part;
    }
    UOp place = stage(tile, step) + placeOf(tile, values), from = tile.read.substitute(loops);
    if (step.vmax() >= extentOf(steps_)) {
      UOp exists = step < extentOf(steps_);
      place = place.validWhere(exists);
      from = from.withSrc({from.src(0), from.src(1).validWhere(exists)});
    }
    UOp stored = memory.indexed({place}).store(from);
    if (isAsync) stored = asyncCopy(stored);
    return own.empty() ? stored : stored.end(own);
  }

  /// Whether this is the first thread of its group.
  UOp isFirst() const {
    UOp number = UOp::index(0);
    for (UOp t : threads_) number = number + t;
    return number < int64_t{1};
  }
  UOp readBack(const StagedTile& tile, UOp memory) const {
    return memory.indexed({stage(tile, steps_) + placeOf(tile, valuesOfLoops(tile))}, tile.read.dtype());
  }

  /// The descriptor of the operand that a core reads at the coordinates of the tile.
  UOp descriptor(const StagedTile& tile, UOp memory, bool termsSideBySide) const {
    const int64_t itemsize = tile.read.dtype().itemsize();
    UOp place = (stage(tile, steps_) + placeOf(tile, valuesOfLoops(tile))) * itemsize;
    UOp address = UOp::make(Op::CAST, dtypes::uint32, {memory}) + place.cast(dtypes::uint32);
    const uint64_t fields = descriptorFields(termsSideBySide ? 0 : tile.lead, kSwizzledAtom);
    return address.cast(dtypes::uint64) / kDescriptorUnit + static_cast<int64_t>(fields);
  }

private:
  UOp stage(const StagedTile& tile, UOp step) const { return step % stages_ * tile.step; }

  const std::vector<UOp>& threads_;
  UOp steps_;
  int64_t stages_, nextId_;
};

constexpr RuleDef kStaged[] = {RULE("read-from-shared", pat::any(Op::INDEX), pat::entry())};
const KnownRules kStagedKnown(kStaged);

constexpr RuleDef kOfCore[] = {RULE("core-reads-shared", pat::any(Op::WMMA), pat::entry())};
const KnownRules kOfCoreKnown(kOfCore);

constexpr RuleDef kTerms[] = {RULE("loop-over-staged-terms", pat::any(Op::RANGE), pat::entry())};
const KnownRules kTermsKnown(kTerms);

/// The reads of the sum, as tiles; none if one of them cannot be staged, since an operand left in global memory
/// would take as long as both.
std::vector<StagedTile> tilesOf(const std::vector<UOp>& nodes, const Sum& sum,
                                const std::vector<UOp>& threads) {
  std::vector<StagedTile> tiles;
  std::vector<UOp> terms; // the ranges of a WMMA's operands: rows, terms, columns, terms
  if (UOp product = productOf(sum); product && product.srcCount() > 4 && product.src(4).is(Op::RANGE) &&
                                    product.src(4).axisType() == AxisType::Placeholder)
    terms = {product.src(4), product.src(product.srcCount() - 1)};
  for (UOp read : nodes) {
    if (!read.is(Op::INDEX) || !read.src(0).is(Op::DEFINE_GLOBAL) || !sum.reduction.src(0).dependsOn(read))
      continue;
    auto tile = tileOf(read, sum.reduction, threads, terms);
    if (!tile) return {};
    tiles.push_back(std::move(*tile));
  }
  return tiles;
}

/// Whether enough threads, or warps, read the same elements.
bool isReused(const std::vector<StagedTile>& tiles) {
  auto reuses = [](int64_t least) { return [least](const StagedTile& t) { return t.reuse >= least; }; };
  return tiles[0].byAddress ? std::any_of(tiles.begin(), tiles.end(), reuses(kStagingReuseOfWarps))
                            : std::all_of(tiles.begin(), tiles.end(), reuses(kStagingReuse));
}

/// The operands of a step are in shared memory: a loop over its terms needs the registers of a single term.
UOp loopOverTerms(UOp ast) {
  static const PatternMatcher asLoop({kTerms});
  UOpMap<UOp> loops;
  for (UOp u : ast.toposort())
    if (u.is(Op::RANGE) && u.axisType() == AxisType::Unroll)
      loops[u] = u.withArg(Arg::of(RangeArg{u.arg().as<RangeArg>().ids, AxisType::Reduce}));
  return replaceNodes(ast, loops, asLoop, "shared operands");
}

/// What happens in a step before its operands are read, and before the first step.
/// `computing`: steps whose products may still read their stages when the next step begins.
std::vector<UOp> copiesOfSteps(const std::vector<StagedTile>& tiles, const std::vector<UOp>& memories,
                               UOp steps, int64_t stages, int64_t computing, bool isAsync, Copies& copies) {
  auto copyAll = [&](UOp step, UOp after) {
    std::vector<UOp> all;
    for (size_t i = 0; i < tiles.size(); ++i)
      all.push_back(copies.copy(
          tiles[i], after ? memories[i].after(std::span<const UOp>(&after, 1)) : memories[i], step, isAsync));
    return all.size() == 1 ? all[0] : UOp::groupOf(all);
  };
  if (!isAsync) return {UOp::make(Op::BARRIER, dtypes::void_, {copyAll(steps, {})})};
  // The copy of a step began `ahead` steps before. All threads have read the stage that is copied to next when they
  // meet here.
  const int64_t ahead = stages - 1 - computing;
  UOp begun;
  for (int64_t step = 0; step < ahead; ++step) begun = closeCopies({copyAll(UOp::index(step), begun)});
  UOp meet = barrierForCopies({begun, steps}, ahead - 1, tiles[0].isForCore);
  return {meet, closeCopies({copyAll(steps + ahead, meet)})};
}

/// The same by the memory engine: the first thread of a group begins the copies of a step, all threads wait for their bytes.
std::vector<UOp> boxesOfSteps(const std::vector<StagedTile>& tiles, const std::vector<TileBoxes>& boxes,
                              const std::vector<UOp>& memories, UOp steps, int64_t computing, UOp isFirst) {
  const int64_t stages = boxes[0].box.stages, ahead = stages - 1 - computing;
  auto barrier = [&](size_t i, UOp number) {
    const int64_t each = kBarrierBytes / tiles[i].read.dtype().itemsize();
    return memories[i].indexed({number * each + boxes[i].box.stages * boxes[i].box.stage});
  };
  UOp ready;
  for (size_t i = 0; i < tiles.size(); ++i)
    ready = prepareBoxes(barrier(i, UOp::index(0)), stages, boxes[i].count,
                         ready ? std::vector<UOp>{ready} : std::vector<UOp>());
  auto copyAll = [&](UOp step, UOp after) {
    std::vector<UOp> all;
    for (size_t i = 0; i < tiles.size(); ++i)
      for (UOp copy : copiesOfBoxes(tiles[i], boxes[i], memories[i].after(std::span<const UOp>(&after, 1)),
                                    steps, step, isFirst))
        all.push_back(copy);
    return UOp::groupOf(all);
  };
  std::vector<UOp> begun{steps}, at;
  for (int64_t step = 0; step < ahead; ++step) begun.push_back(copyAll(UOp::index(step), ready));
  for (size_t i = 0; i < tiles.size(); ++i) at.push_back(barrier(i, steps % stages));
  UOp meet = UOp::make(Op::BARRIER, dtypes::void_, {waitForBoxes(steps / stages % int64_t{2}, at, begun)});
  return {meet, copyAll(steps + ahead, meet)};
}

/// The product with descriptors in place of the elements that its core reads itself.
UOp productFromShared(UOp product, int64_t ahead, const std::vector<StagedTile>& tiles,
                      const std::vector<UOp>& memories, const Copies& copies) {
  std::vector<UOp> sources;
  for (size_t operand = 0; operand < 2; ++operand)
    for (size_t i = 0; i < tiles.size() && sources.size() == operand; ++i)
      if (tiles[i].read == product.src(operand))
        sources.push_back(copies.descriptor(tiles[i], memories[i],
                                            termsSideBySide(product.arg().as<WmmaArg>().name, operand)));
  sources.push_back(product.src(2));
  WmmaArg arg = product.arg().as<WmmaArg>();
  arg.name = withProductsAhead(arg.name, ahead);
  return product.withSrc(sources).withArg(Arg::of(arg));
}

/// The kernel as it is; a core that reads shared memory itself has no operands then.
UOp notStaged(UOp ast, const TensorCore* core, const char* why) {
  if (core && readsShared(*core))
    throw Error(ErrorKind::Compile,
                fmt::format("{} reads its operands from shared memory: {}", core->name, why));
  return ast;
}

} // namespace

UOp stageOperands(UOp ast, const Target& target, int64_t nextId) {
  if (!target.hasLocal || !target.hasShared) return ast;
  const std::vector<UOp> nodes = ast.toposort(), threads = threadsOf(ast);
  const Sum sum = sumOf(nodes);
  if (!sum.reduction || threads.empty()) return ast;
  const UOp product = productOf(sum);
  const TensorCore* core = coreOf(product, target);
  if (!sum.steps) return notStaged(ast, core, "the sum is no loop over steps");
  const std::vector<StagedTile> tiles = tilesOf(nodes, sum, threads);
  if (tiles.empty())
    return notStaged(ast, core, "a step has no tile of 64 elements side by side, as many for each thread");
  if (!tiles[0].isForCore && !isReused(tiles)) return ast;
  const int64_t computing = tiles[0].isForCore ? stepsAhead(nodes, sum) : 0;
  const Stages stages = chooseStages(tiles, sum, nodes, threads, computing, target);
  if (!stages.count) return notStaged(ast, core, "the stages of a step do not fit");
  int64_t bytes = 0;
  for (const StagedTile& t : tiles) bytes += t.bytes();
  const bool isAsync = target.copiesAsync && std::all_of(tiles.begin(), tiles.end(), [](const StagedTile& t) {
                         return t.byAddress && canCopyAsync(t.vector * t.read.dtype().itemsize());
                       });

  std::vector<TileBoxes> boxes;
  for (const StagedTile& tile : tiles)
    if (auto found = target.copiesBoxes ? boxesOf(tile, stages.count) : std::nullopt)
      boxes.push_back(std::move(*found));
  const bool byEngine = boxes.size() == tiles.size();

  std::vector<UOp> memories, ready;
  for (const StagedTile& tile : tiles) {
    const int64_t barriers = byEngine ? stages.count * kBarrierBytes / tile.read.dtype().itemsize() : 0;
    memories.push_back(UOp::make(Op::DEFINE_LOCAL,
                                 tile.read.dtype().ptr(stages.count * tile.step + barriers, AddrSpace::Local),
                                 {}, Arg::of(static_cast<int64_t>(memories.size()))));
  }
  Copies copies(threads, sum.steps, stages.count, nextId);
  const std::vector<UOp> before =
      byEngine ? boxesOfSteps(tiles, boxes, memories, sum.steps, computing, copies.isFirst())
               : copiesOfSteps(tiles, memories, sum.steps, stages.count, computing, isAsync, copies);
  for (UOp m : memories) ready.push_back(m.after(before));
  if (byEngine) because([&] { return reasonForBoxes(tiles, boxes); });
  if (isAsync) because([&] { return reasonForStages(stages, computing, bytes); });
  because([&] { return reasonToStage(tiles, sum, stages.count * bytes); });
  static const PatternMatcher useShared({kStaged}), ofCore({kOfCore});
  if (tiles[0].isForCore)
    return replaceNodes(ast, {{product, productFromShared(product, computing, tiles, ready, copies)}}, ofCore,
                        "shared operands");
  UOpMap<UOp> staged;
  for (size_t i = 0; i < tiles.size(); ++i) staged[tiles[i].read] = copies.readBack(tiles[i], ready[i]);
  ast = replaceNodes(ast, staged, useShared, "shared operands");
  // Fragments of several tiles of a tensor core lie side by side and are read at once: they need no loop.
  return tiles[0].byAddress ? ast : loopOverTerms(ast);
}

} // namespace uopscope
