// Chooses the reads that are staged, makes the copy, and lays out its elements in shared memory.
#include "engine/codegen/staging.h"

#include "engine/codegen/ranges.h"
#include "engine/rewrite/replacement.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace uopscope {

namespace {

constexpr int64_t kVectorBytes = 16;

bool isThread(UOp range) {
  return range.axisType() == AxisType::Local;
}

/// A loop that the address of a read depends on: over threads, over results of a thread, or over terms.
struct Digit {
  UOp range;
  int64_t extent, stride;
  int64_t inShared = 0; ///< its stride in shared memory
};
struct Tile {
  UOp read;
  std::vector<Digit> digits; ///< sorted by stride, the smallest first
  int64_t size = 1, reuse = 1, vector = 1;
  int64_t bytes = 0, step = 0; ///< of one half of the shared memory; `step` counts elements
};

/// The LOCAL ranges, in order of their part in the thread number, the fastest first.
std::vector<UOp> threadsOf(UOp ast) {
  std::vector<UOp> threads;
  for (UOp u : ast.toposort())
    if (u.is(Op::RANGE) && isThread(u)) threads.push_back(u);
  std::sort(threads.begin(), threads.end(),
            [](UOp a, UOp b) { return a.arg().as<RangeArg>().ids > b.arg().as<RangeArg>().ids; });
  return threads;
}

/// Chooses strides in shared memory: lanes of a vector vary fastest, then threads, then further results, then
/// terms.
void layOut(Tile& tile) {
  auto rank = [&](const Digit& d) {
    if (d.range.axisType() == AxisType::Unroll) return 3;
    if (isThread(d.range)) return 1;
    for (const Digit& other : tile.digits)
      if (other.range.axisType() == AxisType::Upcast)
        return other.range == d.range ? 0 : 2; // the UPCAST with the smallest stride
    return 2;
  };
  std::vector<size_t> order(tile.digits.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return rank(tile.digits[a]) < rank(tile.digits[b]); });
  int64_t at = 1;
  bool padded = false;
  for (size_t i : order) {
    Digit& d = tile.digits[i];
    if (!padded && d.range.axisType() == AxisType::Unroll) {
      at += kVectorBytes / tile.read.dtype().itemsize();
      padded = true;
    }
    d.inShared = at;
    at *= d.extent;
  }
  tile.step = at;
}

std::optional<Tile> tileOf(UOp read, UOp reduction, const std::vector<UOp>& threads) {
  UOp index = read.src(1);
  if (read.srcCount() != 2 || index.is(Op::WHERE) || read.dtype().count() != 1) return {};
  Tile tile;
  tile.read = read;
  std::vector<UOp> all = rangesIn(reduction.src().subspan(1));
  for (UOp r : reduction.ranges()) all.push_back(r);
  for (UOp r : all) {
    AxisType type = r.axisType();
    bool inTile = isThread(r) || type == AxisType::Upcast || type == AxisType::Unroll;
    if (!inTile) {
      if (type != AxisType::Global && type != AxisType::Reduce) return {};
      continue;
    }
    auto stride = coefficientOf(index, r);
    if (!stride || extentOf(r) < 1) return {};
    if (*stride > 0) {
      tile.digits.push_back({r, extentOf(r), *stride});
      tile.size *= extentOf(r);
    } else if (*stride < 0) {
      return {};
    } else if (isThread(r)) {
      tile.reuse *= extentOf(r);
    }
  }
  std::sort(tile.digits.begin(), tile.digits.end(),
            [](const Digit& a, const Digit& b) { return a.stride < b.stride; });
  bool hasTerms = std::any_of(tile.digits.begin(), tile.digits.end(),
                              [](const Digit& d) { return d.range.axisType() == AxisType::Unroll; });
  int64_t group = 1;
  for (UOp t : threads) group *= extentOf(t);
  if (!hasTerms || tile.reuse < kStagingReuse || tile.size % group) return {};
  int64_t each = tile.size / group, widest = kVectorBytes / read.dtype().itemsize();
  if (tile.digits[0].stride == 1)
    while (tile.vector * 2 <= widest && each % (tile.vector * 2) == 0 &&
           tile.digits[0].extent % (tile.vector * 2) == 0)
      tile.vector *= 2;
  layOut(tile);
  return tile;
}

class Stage {
public:
  Stage(const std::vector<UOp>& threads, UOp steps, int64_t nextId)
      : threads_(threads), steps_(steps), nextId_(nextId) {}

  /// The copy of this thread's part of the tile, as an effect.
  UOp copy(const Tile& tile, UOp memory) {
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
    UOpMap<UOp> digits;
    UOp place = half(tile), rest = element;
    for (size_t i = 0; i < tile.digits.size(); ++i) {
      const Digit& d = tile.digits[i];
      UOp digit = i + 1 == tile.digits.size() ? rest : rest % d.extent;
      rest = rest / d.extent;
      digits[d.range] = digit;
      place = place + digit * d.inShared;
    }
    UOp stored = memory.indexed({place}).store(tile.read.substitute(digits));
    return own.empty() ? stored : stored.end(own);
  }

  UOp readBack(const Tile& tile, UOp memory) const {
    UOp place = half(tile);
    for (const Digit& d : tile.digits) place = place + d.range * d.inShared;
    return memory.indexed({place}, tile.read.dtype());
  }

private:
  UOp half(const Tile& tile) const { return steps_ % int64_t{2} * tile.step; }

  const std::vector<UOp>& threads_;
  UOp steps_;
  int64_t nextId_;
};

constexpr RuleDef kStaged[] = {RULE("read-from-shared", pat::any(Op::INDEX), pat::entry())};

constexpr RuleDef kTerms[] = {RULE("loop-over-staged-terms", pat::any(Op::RANGE), pat::entry())};

/// The one reduction of a kernel and the loop over its steps; null if there are several.
struct Sum {
  UOp reduction, steps;
};
Sum sumOf(const std::vector<UOp>& nodes) {
  Sum sum;
  for (UOp u : nodes) {
    if (u.is(Op::WMMA) || u.is(Op::DEFINE_LOCAL) || u.is(Op::DEFINE_REG) || u.is(Op::BUFFERIZE)) return {};
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

} // namespace

UOp stageOperands(UOp ast, const Target& target, int64_t nextId) {
  if (!target.hasLocal || !target.hasShared) return ast;
  std::vector<UOp> nodes = ast.toposort(), threads = threadsOf(ast);
  Sum sum = sumOf(nodes);
  if (!sum.steps || threads.empty()) return ast;
  std::vector<Tile> tiles;
  int64_t bytes = 0;
  for (UOp read : nodes) {
    if (!read.is(Op::INDEX) || !read.src(0).is(Op::DEFINE_GLOBAL) || !sum.reduction.src(0).dependsOn(read))
      continue;
    auto tile = tileOf(read, sum.reduction, threads);
    if (!tile) return ast; // one operand left in global memory would take as long as both
    bytes += 2 * tile->step * read.dtype().itemsize();
    tiles.push_back(std::move(*tile));
  }
  if (tiles.empty() || bytes > target.sharedMax) return ast;
  Stage stage(threads, sum.steps, nextId);
  std::vector<UOp> memories, copies;
  for (const Tile& tile : tiles) {
    memories.push_back(UOp::make(Op::DEFINE_LOCAL, tile.read.dtype().ptr(2 * tile.step, AddrSpace::Local), {},
                                 Arg::of(static_cast<int64_t>(memories.size()))));
    copies.push_back(stage.copy(tile, memories.back()));
  }
  UOp ready = UOp::make(Op::BARRIER, dtypes::void_, {copies.size() == 1 ? copies[0] : UOp::groupOf(copies)});
  UOpMap<UOp> staged;
  for (size_t i = 0; i < tiles.size(); ++i)
    staged[tiles[i].read] = stage.readBack(tiles[i], memories[i].after(std::span<const UOp>(&ready, 1)));
  because([&] {
    return fmt::format(
        "each element is read by {} threads of a group: {} bytes of shared memory, a barrier a step",
        tiles[0].reuse, bytes);
  });
  static const PatternMatcher useShared({kStaged}), asLoop({kTerms});
  ast = replaceNodes(ast, staged, useShared, "shared operands");
  // The operands of a step are in shared memory now: a loop over its terms needs the registers of a single
  // term.
  UOpMap<UOp> loops;
  for (UOp u : ast.toposort())
    if (u.is(Op::RANGE) && u.axisType() == AxisType::Unroll)
      loops[u] = u.withArg(Arg::of(RangeArg{u.arg().as<RangeArg>().ids, AxisType::Reduce}));
  return replaceNodes(ast, loops, asLoop, "shared operands");
}

} // namespace uopscope
