// Chooses the reads that are staged, and makes the copies of a step.
#include "engine/codegen/staging.h"

#include "engine/codegen/async_copy.h"
#include "engine/codegen/block_order.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/staging_stages.h"
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
  UOp copy(const Tile& tile, UOp memory, UOp step, bool isAsync) {
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

  UOp readBack(const Tile& tile, UOp memory) const {
    return memory.indexed({stage(tile, steps_) + placeOf(tile, valuesOfLoops(tile))}, tile.read.dtype());
  }

private:
  UOp stage(const Tile& tile, UOp step) const { return step % stages_ * tile.step; }

  const std::vector<UOp>& threads_;
  UOp steps_;
  int64_t stages_, nextId_;
};

constexpr RuleDef kStaged[] = {RULE("read-from-shared", pat::any(Op::INDEX), pat::entry())};

constexpr RuleDef kTerms[] = {RULE("loop-over-staged-terms", pat::any(Op::RANGE), pat::entry())};

/// The one reduction of a kernel and the loop over its steps; null if there are several, or memory of its own.
struct Sum {
  UOp reduction, steps;
};
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

/// The reads of the sum, as tiles; none if one of them cannot be staged, since an operand left in global memory
/// would take as long as both.
std::vector<Tile> tilesOf(const std::vector<UOp>& nodes, const Sum& sum, const std::vector<UOp>& threads) {
  std::vector<Tile> tiles;
  for (UOp read : nodes) {
    if (!read.is(Op::INDEX) || !read.src(0).is(Op::DEFINE_GLOBAL) || !sum.reduction.src(0).dependsOn(read))
      continue;
    auto tile = tileOf(read, sum.reduction, threads);
    if (!tile) return {};
    tiles.push_back(std::move(*tile));
  }
  return tiles;
}

/// Whether enough threads, or warps, read the same elements.
bool isReused(const std::vector<Tile>& tiles) {
  auto reuses = [](int64_t least) { return [least](const Tile& t) { return t.reuse >= least; }; };
  return tiles[0].byAddress ? std::any_of(tiles.begin(), tiles.end(), reuses(kStagingReuseOfWarps))
                            : std::all_of(tiles.begin(), tiles.end(), reuses(kStagingReuse));
}

/// The argument of the tensor core that a sum uses; null if it uses none.
const WmmaArg* coreOf(const Sum& sum) {
  for (UOp u : sum.reduction.toposort())
    if (u.is(Op::WMMA)) return &u.arg().as<WmmaArg>();
  return nullptr;
}

/// The terms that a step of tensor cores sums.
int64_t termsOfStep(const Sum& sum) {
  int64_t terms = 1;
  for (UOp r : rangesIn(sum.reduction.src().subspan(1)))
    if (r.axisType() == AxisType::Unroll) terms *= extentOf(r);
  const WmmaArg* core = coreOf(sum);
  return core ? terms * core->dims[2] : terms;
}

/// The stages that take turns: two where threads wait for their copies themselves.
Stages chooseStages(const std::vector<Tile>& tiles, const Sum& sum, const std::vector<UOp>& nodes,
                    const std::vector<UOp>& threads, const Target& target) {
  StagedStep step;
  for (const Tile& t : tiles) step.bytes += t.bytes();
  Stages two;
  two.count = 2 * step.bytes <= target.sharedMax ? 2 : 0;
  const WmmaArg* used = coreOf(sum);
  if (!used || !target.copiesAsync || tiles.size() != 2) return two;
  const auto core = std::find_if(target.tensorCores.begin(), target.tensorCores.end(),
                                 [&](const TensorCore& c) { return c.name == used->name; });
  if (core == target.tensorCores.end() || core->rate == 0) return two;
  step.products = tiles[0].size * tiles[1].size / termsOfStep(sum);
  int64_t inGroup = 1, results = 1;
  for (UOp t : threads) inGroup *= extentOf(t);
  for (UOp u : nodes)
    if (u.is(Op::RANGE) && u.axisType() == AxisType::Upcast) results *= extentOf(u);
  step.groups = groupsAtOnce(inGroup, results);
  return stagesOf(step, core->rate, target.sharedMax, extentOf(sum.steps));
}

/// Why the operands of these tiles are staged. The bytes that a group loads for a step say what it saves.
Decision reasonToStage(const std::vector<Tile>& tiles, const Sum& sum, int64_t bytes) {
  if (!tiles[0].byAddress)
    return {.reason = fmt::format(
                "each element is read by {} threads of a group: {} bytes of shared memory, a barrier a step",
                tiles[0].reuse, bytes)};
  int64_t shared = 0, fromGlobal = 0, loaded = 0, loadedByWarps = 0;
  for (const Tile& t : tiles) {
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
std::vector<UOp> copiesOfSteps(const std::vector<Tile>& tiles, const std::vector<UOp>& memories, UOp steps,
                               int64_t stages, bool isAsync, Copies& copies) {
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
  const int64_t ahead = stages - 1;
  UOp begun;
  for (int64_t step = 0; step < ahead; ++step) begun = closeCopies({copyAll(UOp::index(step), begun)});
  UOp meet = barrierForCopies({begun, steps}, ahead - 1);
  return {meet, closeCopies({copyAll(steps + ahead, meet)})};
}

/// Why so many stages take turns.
Decision reasonForStages(const Stages& stages, int64_t bytes) {
  return {.reason =
              fmt::format("the copies of {} step{} are under way while a step is computed; {} stages of "
                          "{} bytes take turns",
                          stages.count - 1, stages.count == 2 ? "" : "s", stages.count, bytes),
          .price = stages.cycles,
          .unit = "cycles a step",
          .others = stages.others};
}

} // namespace

UOp stageOperands(UOp ast, const Target& target, int64_t nextId) {
  if (!target.hasLocal || !target.hasShared) return ast;
  const std::vector<UOp> nodes = ast.toposort(), threads = threadsOf(ast);
  const Sum sum = sumOf(nodes);
  if (!sum.steps || threads.empty()) return ast;
  const std::vector<Tile> tiles = tilesOf(nodes, sum, threads);
  if (tiles.empty() || !isReused(tiles)) return ast;
  const Stages stages = chooseStages(tiles, sum, nodes, threads, target);
  if (!stages.count) return ast;
  int64_t bytes = 0;
  for (const Tile& t : tiles) bytes += t.bytes();
  const bool isAsync = target.copiesAsync && std::all_of(tiles.begin(), tiles.end(), [](const Tile& t) {
                         return t.byAddress && canCopyAsync(t.vector * t.read.dtype().itemsize());
                       });

  std::vector<UOp> memories;
  for (const Tile& tile : tiles)
    memories.push_back(UOp::make(Op::DEFINE_LOCAL,
                                 tile.read.dtype().ptr(stages.count * tile.step, AddrSpace::Local), {},
                                 Arg::of(static_cast<int64_t>(memories.size()))));
  Copies copies(threads, sum.steps, stages.count, nextId);
  const std::vector<UOp> before = copiesOfSteps(tiles, memories, sum.steps, stages.count, isAsync, copies);
  UOpMap<UOp> staged;
  for (size_t i = 0; i < tiles.size(); ++i)
    staged[tiles[i].read] = copies.readBack(tiles[i], memories[i].after(before));
  if (isAsync) because([&] { return reasonForStages(stages, bytes); });
  because([&] { return reasonToStage(tiles, sum, stages.count * bytes); });
  static const PatternMatcher useShared({kStaged});
  ast = replaceNodes(ast, staged, useShared, "shared operands");
  // Fragments of several tiles of a tensor core lie side by side and are read at once: they need no loop.
  return tiles[0].byAddress ? ast : loopOverTerms(ast);
}

} // namespace uopscope
