// Chooses the reads that are staged, and makes the copies of a step.
#include "engine/codegen/staging.h"

#include "engine/codegen/async_copy.h"
#include "engine/codegen/ranges.h"
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
class Stage {
public:
  Stage(const std::vector<UOp>& threads, UOp steps, int64_t nextId)
      : threads_(threads), steps_(steps), nextId_(nextId) {}

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
    UOp place = half(tile, step) + placeOf(tile, values), from = tile.read.substitute(loops);
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
    return memory.indexed({half(tile, steps_) + placeOf(tile, valuesOfLoops(tile))}, tile.read.dtype());
  }

private:
  static UOp half(const Tile& tile, UOp step) { return step % int64_t{2} * tile.step; }

  const std::vector<UOp>& threads_;
  UOp steps_;
  int64_t nextId_;
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

/// The terms that a step of tensor cores sums.
int64_t termsOfStep(const Sum& sum) {
  int64_t terms = 1;
  for (UOp r : rangesIn(sum.reduction.src().subspan(1)))
    if (r.axisType() == AxisType::Unroll) terms *= extentOf(r);
  for (UOp u : sum.reduction.toposort())
    if (u.is(Op::WMMA)) return terms * u.arg().as<WmmaArg>().dims[2];
  return terms;
}

/// Why the operands of these tiles are staged. The bytes that a group loads for a step say what it saves.
Decision reasonFor(const std::vector<Tile>& tiles, const Sum& sum, int64_t bytes, bool isAsync) {
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
  return {.reason = fmt::format("{}{} bytes of shared memory, a barrier a step{}", uses, bytes,
                                isAsync ? "; the next step is copied while this one is computed" : ""),
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

} // namespace

UOp stageOperands(UOp ast, const Target& target, int64_t nextId) {
  if (!target.hasLocal || !target.hasShared) return ast;
  const std::vector<UOp> nodes = ast.toposort(), threads = threadsOf(ast);
  const Sum sum = sumOf(nodes);
  if (!sum.steps || threads.empty()) return ast;
  const std::vector<Tile> tiles = tilesOf(nodes, sum, threads);
  int64_t bytes = 0;
  for (const Tile& t : tiles) bytes += 2 * t.bytes();
  if (tiles.empty() || !isReused(tiles) || bytes > target.sharedMax) return ast;
  const bool isAsync = target.copiesAsync && std::all_of(tiles.begin(), tiles.end(), [](const Tile& t) {
                         return t.byAddress && canCopyAsync(t.vector * t.read.dtype().itemsize());
                       });

  Stage stage(threads, sum.steps, nextId);
  std::vector<UOp> memories;
  for (const Tile& tile : tiles)
    memories.push_back(UOp::make(Op::DEFINE_LOCAL, tile.read.dtype().ptr(2 * tile.step, AddrSpace::Local), {},
                                 Arg::of(static_cast<int64_t>(memories.size()))));
  auto copyAll = [&](UOp step, UOp after) {
    std::vector<UOp> copies;
    for (size_t i = 0; i < tiles.size(); ++i)
      copies.push_back(stage.copy(
          tiles[i], after ? memories[i].after(std::span<const UOp>(&after, 1)) : memories[i], step, isAsync));
    return copies.size() == 1 ? copies[0] : UOp::groupOf(copies);
  };
  std::vector<UOp> before; // what happens in a step before its operands are read
  if (isAsync) {
    // The copy of a step began in the step before. All threads have read the other half when they meet here.
    before.push_back(barrierForCopies({copyAll(UOp::index(0), {}), sum.steps}));
    before.push_back(copyAll(sum.steps + int64_t{1}, before[0]));
  } else {
    before.push_back(UOp::make(Op::BARRIER, dtypes::void_, {copyAll(sum.steps, {})}));
  }
  UOpMap<UOp> staged;
  for (size_t i = 0; i < tiles.size(); ++i)
    staged[tiles[i].read] = stage.readBack(tiles[i], memories[i].after(before));
  because([&] { return reasonFor(tiles, sum, bytes, isAsync); });
  static const PatternMatcher useShared({kStaged});
  ast = replaceNodes(ast, staged, useShared, "shared operands");
  // Fragments of several tiles of a tensor core lie side by side and are read at once: they need no loop.
  return tiles[0].byAddress ? ast : loopOverTerms(ast);
}

} // namespace uopscope
