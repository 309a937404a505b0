// Opts chosen by looking at a kernel: the axes that become lanes, the axes that are unrolled, the axes that
// threads share.
//
// On a CPU, an axis along which results are contiguous becomes lanes if every read is either contiguous along
// it or independent of it. A second axis becomes lanes if some read does not depend on it: each loaded value
// is then used several times. A short sum is unrolled, so that each lane has an accumulator of its own.
// heuristic_elementwise.cpp chooses for kernels without a sum, heuristic_groups.cpp for targets with work groups.
#include "engine/codegen/heuristic.h"

#include "engine/base/context_var.h"
#include "engine/base/cpu_count.h"
#include "engine/codegen/dot_products.h"
#include "engine/codegen/heuristic_product.h"
#include "engine/codegen/live_ranges.h"
#include "engine/codegen/memory.h"
#include "engine/codegen/panels.h"
#include "engine/codegen/strided_tile.h"
#include "engine/codegen/tensor_core_layout.h"
#include "engine/codegen/tensor_core_product.h"
#include "engine/codegen/tiling.h"
#include "engine/rules/algebra.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

using namespace heuristic;

constexpr double kPlainWork = 8; ///< operations of an iteration, of which kWorkPerThread justify a thread
constexpr int64_t kLongestWrittenOut = 4; ///< of short sums

/// The cost of the chosen tile and of the next best ones, for the observer.
Decision priceOf(const Tile& tile) {
  Decision d{
      fmt::format("{:.3f} cycles a lane and step", tile.cycles), tile.cycles, "cycles a lane and step", {}};
  if (!tile.others.empty())
    d.reason += fmt::format(", {:.3f} for {}", tile.others[0].cycles, tile.others[0].what);
  for (const Tile::Other& o : tile.others) d.others.push_back({o.what, o.cycles});
  return d;
}
Opt upcast(const KernelOptimizer& s, const Tile::Part& part) {
  Opt opt{OptOp::UPCAST, axisOf(s, part.range), {part.amount}};
  if (extentNow(s, part.range) % part.amount) opt.arg.push_back(kOverlap);
  return opt;
}

/// Terms that no step of `amount` lanes holds are peeled off.
Opt unroll(const KernelOptimizer& s, UOp range, int64_t amount) {
  Opt opt{OptOp::UNROLL, unrollAxis(s, range), {amount}};
  if (extentNow(s, range) % amount) opt.arg.push_back(kOverlap);
  return opt;
}

/// The read whose lanes lie apart, if it is the only one that differs from lane to lane.
UOp onlyApart(const KernelShape& k, UOp lanes) {
  UOp apart;
  for (UOp read : k.reads) {
    if (strideOf(read, lanes) == 0) continue;
    if (apart || strideOf(read, lanes) == 1) return {};
    apart = read;
  }
  return apart;
}

/// The innermost loop that a read depends on; -1: none.
int innermostOf(const KernelOptimizer& s, const KernelShape& k, UOp read) {
  int inner = -1;
  for (UOp r : k.outputs)
    if (strideOf(read, r) != 0) inner = std::max(inner, axisOf(s, r));
  return inner;
}

/// Whether loops inside of the lanes' make the panel of their read anew, so that it would be read too seldom.
bool isReadTooSeldom(const KernelOptimizer& s, const KernelShape& k, UOp lanes) {
  const UOp apart = onlyApart(k, lanes);
  if (!apart || s.ast().below().has(Op::AFTER)) return false;
  const int inner = innermostOf(s, k, apart);
  double reuse = 1;
  for (UOp r : k.outputs)
    if (axisOf(s, r) > inner) reuse *= static_cast<double>(extentNow(s, r));
  return inner > axisOf(s, lanes) && reuse < kReuseApart;
}

/// Lanes that lie apart are read from a panel. The innermost loop that it depends on goes outside of those that only read
/// it, so that it is made once for these.
void panelOutside(KernelOptimizer& s, const KernelShape& k, UOp lanes) {
  if (s.ast().below().has(Op::AFTER)) return; // copies that are made for each iteration of their loops
  const UOp apart = onlyApart(k, lanes);
  if (!apart) return;
  const int inner = innermostOf(s, k, apart);
  int outer = -1;
  double results = 1;
  bool inOrder = false;
  for (UOp r : k.outputs) {
    const int axis = axisOf(s, r);
    if (strideOf(apart, r) == 0 && axis >= 0 && (outer < 0 || axis < outer)) outer = axis;
    results *= static_cast<double>(extentOf(r));
    inOrder |= axis == inner && writtenNextToEachOther(k, r);
  }
  if (inOrder && results > kCached) return; // each line of them would come from memory many times
  if (outer >= 0 && outer < inner)
    tryApply(s, OptOp::SWAP, outer, inner,
             inWords("the panel of the lanes is made once for the loops inside"));
}

/// Whether the terms of each lane come together: of terms that are lanes, if all lie side by side, else by panels. Of the
/// operand that all lanes share they may lie side by side in memory.
bool comeTogether(const Target& target, const DotSum& dot, const Tile& tile) {
  const bool isUnrolled = dot.term.axisType() == AxisType::Unroll;
  if (tile.parts.back().isTerm || isUnrolled)
    return isUnrolled && areSideBySide(dot.single, dot.term) && areSideBySide(dot.lanes, dot.term);
  const int64_t terms = termsOf(*dot.core);
  return (areSideBySide(dot.single, dot.term) || servesGroups(dot.single, dot.sum, target, terms)) &&
         servesGroups(dot.lanes, dot.sum, target, terms);
}

/// Terms that are lanes become as many more as a dot product adds to each lane, so that its registers are full.
void fillByDotProducts(const KernelOptimizer& s, const KernelShape& k, Tile& tile) {
  if (!vars::tc || !tile.vectors || !tile.parts.back().isTerm) return;
  Tile::Part& lanes = tile.parts.back();
  for (const DotSum& dot : dotSums(s.target(), s.reduces(), s.stores())) {
    if (!mayUse(s.target(), *dot.core)) continue;
    const int64_t terms = termsOf(*dot.core), all = lanes.amount * terms, extent = extentOf(dot.term);
    const bool isFilled = extent % all == 0 || (extent >= 2 * all && s.mayPeel(dot.term));
    if (dot.sum != k.reduction || dot.term != lanes.range || !isFilled || tile.lanes * terms > kMostPlaces)
      continue;
    lanes.amount = all;
    return;
  }
}

/// The terms of a tile several at a time, by a dot product of the processor.
void chooseDotProducts(KernelOptimizer& s, const Tile& tile) {
  if (!vars::tc || !tile.vectors) return;
  const std::vector<DotSum> found = dotSums(s.target(), s.reduces(), s.stores());
  for (size_t i = 0; i < found.size(); ++i) {
    if (!mayUse(s.target(), *found[i].core) || !comeTogether(s.target(), found[i], tile)) continue;
    const auto terms = termsOf(*found[i].core);
    const double one = tile.cycles * static_cast<double>(tile.together);
    Decision why{fmt::format("{} adds {} terms to each lane", found[i].core->name, terms),
                 one / static_cast<double>(terms),
                 "cycles a lane and step",
                 {{"a term at a time", one}}};
    if (tryApply(s, Opt{OptOp::TC, static_cast<int>(i), {-1, 0, 1}}, why)) return;
  }
}

/// Whether lanes that lie apart are read along these terms: a panel brings them together, of which terms that are written out are
/// no rows (panels.cpp).
bool isRowOfPanel(const KernelShape& k, UOp term, UOp lanes) {
  return std::ranges::any_of(k.reads, [&](UOp read) {
    const int64_t apart = strideOf(read, lanes);
    return apart != 0 && apart != 1 && strideOf(read, term) != 0;
  });
}

/// Whether a tile has as many sums as additions are on their way at once, and half of the registers with them. More terms at a time
/// then only take registers: vectors that overlap from term to term are made by shuffles, pairs of factors are taken apart.
bool keepsUnitsBusy(const Tile& tile, int64_t width, const Target& target) {
  constexpr int64_t kOnTheirWay = 8;
  return tile.lanes >= kOnTheirWay * width && registerFileOf(target).vectors <= 2 * kOnTheirWay;
}

/// Brings the loop over rows inside of the loop over lanes, so that what the lanes read stays in the cache. Loops between them that
/// this depends on, as the rows of a picture, stay outside of the lanes: memory is read and written along its rows.
bool rowsInside(KernelOptimizer& s, const KernelShape& k, int rows, int lanes,
                const std::vector<UOp>& ofLanes) {
  const Decision why = inWords("the panel of the lanes stays in the cache");
  const bool areBound = std::ranges::all_of(k.outputs, [&](UOp r) {
    const int axis = axisOf(s, r);
    return axis <= rows || axis >= lanes ||
           std::ranges::any_of(ofLanes, [&](UOp read) { return strideOf(read, r) != 0; });
  });
  if (!areBound) return tryApply(s, OptOp::SWAP, rows, lanes, why);
  for (int axis = rows; axis < lanes; ++axis)
    if (!tryApply(s, OptOp::SWAP, axis, axis + 1, why)) return axis > rows;
  return true;
}

/// Lanes are applied last: the axis expanded last gives the neighbouring lanes, and these must be contiguous
/// in memory.
void chooseForReduction(KernelOptimizer& s, const KernelShape& k, int64_t width) {
  const std::vector<TileAxis> axes = tileAxes(s, k, width);
  if (axes.empty()) return;
  Observer* observer = Observer::current();
  StridedTile chosen = chooseStridedTile(axes, machineOf(s, k, width), observer && observer->wantsRewrites());
  for (UOp r : chosen.strides)
    tryApply(s, Opt{OptOp::UPCAST, axisOf(s, r), {extentOf(r)}},
             inWords("the steps of a stride: each has terms of its own"));
  Tile& tile = chosen.tile;
  const int64_t steps = chosen.written.steps;
  int64_t taken = steps;
  const Decision why = priceOf(tile);
  fillByDotProducts(s, k, tile);
  for (const Tile::Part& p : tile.parts) {
    if (p.amount > extentNow(s, p.range) && !tryApply(s, OptOp::PADTO, axisOf(s, p.range), p.amount, why))
      continue;
    if (tryApply(s, p.isTerm ? unroll(s, p.range, p.amount) : upcast(s, p), why)) taken *= p.amount;
  }
  // The panel that the lanes read stays in the cache while the row axis runs, so the row axis becomes the
  // inner loop.
  bool isInside = false;
  if (tile.vectors && tile.parts.size() > 1) {
    const Tile::Part &row = tile.parts[tile.parts.size() - 2], &lanes = tile.parts.back();
    int outer = axisOf(s, row.range), inner = axisOf(s, lanes.range);
    std::vector<UOp> shared = k.reads;
    std::erase_if(
        shared, [&](UOp read) { return strideOf(read, lanes.range) == 0 || strideOf(read, row.range) != 0; });
    if (tile.lanesOutside && !lanes.isTerm && lanes.amount > 4 && outer >= 0 && outer < inner &&
        !shared.empty() && !isReadTooSeldom(s, k, lanes.range))
      isInside = rowsInside(s, k, outer, inner, shared);
  }
  if (!isInside && !tile.parts.empty() && tile.parts.back().amount > 4 &&
      std::ranges::none_of(tile.parts, &Tile::Part::isTerm))
    panelOutside(s, k, tile.parts.back().range);
  // A short inner sum, such as the window of a convolution, is unrolled.
  chooseDotProducts(s, tile);
  const bool hasTerms = !tile.parts.empty() && tile.parts.back().isTerm;
  const int64_t mostTaken = std::min(kMostPlaces, mostWrittenOut(width) * (hasTerms ? 1 : steps));
  const std::vector<UOp> deciding = decidingTerms(chosen);
  for (auto r = k.summed.rbegin(); r != k.summed.rend(); ++r) {
    int64_t n = extentNow(s, *r);
    const bool decides = std::ranges::find(deciding, *r) != deciding.end();
    if (n < 2 || n > kLongestWrittenOut || taken * n > (decides ? kMostPlaces : mostTaken)) continue;
    if (hasTerms && (tile.parts.back().amount % width || tile.parts.back().range == *r))
      continue; // no whole vectors, or those of the lanes taken apart
    if (tile.vectors && (isRowOfPanel(k, *r, tile.parts.back().range) ||
                         (!hasTerms && !decides && keepsUnitsBusy(tile, width, s.target()))))
      continue;
    if (tryApply(s, OptOp::UNROLL, unrollAxis(s, *r), 0, inWords("a short sum is written out"))) taken *= n;
  }
}

/// Whether loops follow a reduction that they do not repeat: a kernel that keeps rows.
bool keepsRows(const KernelOptimizer& s, const KernelShape& k) {
  if (!k.reduction) return false;
  auto followedBy = [&](UOp range) {
    return std::any_of(s.reduces().begin(), s.reduces().end(), [&](UOp red) { return !isOpen(red, range); });
  };
  if (std::any_of(k.outputs.begin(), k.outputs.end(), followedBy)) return true;
  for (UOp red : s.reduces())
    for (UOp before : s.reduces())
      if (before != red && red.dependsOn(before))
        for (UOp r : rangesIn(red.src().subspan(1)))
          if (!isOpen(before, r)) return true;
  return false;
}

/// The accesses that a loop goes along, with the loop's stride 1 or 0; none if another stride is there.
bool suitsLanes(const KernelOptimizer& s, UOp range) {
  bool any = false;
  for (UOp a : s.accesses()) {
    int64_t stride = strideOf(a, range);
    if (stride != 0 && stride != 1) return false;
    any |= stride == 1;
  }
  return any;
}

/// Lanes of a row's reduction: whole vectors, else a large even part of the row, which is several vectors and a rest, else
/// vectors that leave terms over.
int64_t lanesOfRow(const KernelOptimizer& s, UOp range, int64_t width) {
  const int64_t extent = extentOf(range);
  if (int64_t whole = largestDivisor(extent, {4 * width, 2 * width, width})) return whole;
  for (int64_t n = 4 * width; n >= width; n /= 2)
    if (extent >= 2 * n && s.mayPeel(range)) return n;
  for (int64_t n = 4 * width; n >= width; n -= 2)
    if (extent % n == 0) return n;
  return largestDivisor(extent, {width / 2, width / 4});
}

/// Values of one node in a reduction: the product of the loops around it that are lanes, and of those of reductions that its
/// loops repeat. What it repeats for no step of its own, such as the maximum of its row, does not count.
int64_t placesIn(const KernelOptimizer& s, UOp red) {
  int64_t places = 1;
  auto count = [&](UOp r) {
    if (r.axisType() == AxisType::Upcast || r.axisType() == AxisType::Unroll) places *= extentOf(r);
  };
  for (UOp r : red.src(0).ranges()) count(r);
  const auto terms = rangesIn(red.src().subspan(1));
  for (UOp other : s.reduces())
    if (other != red && red.dependsOn(other) &&
        std::any_of(terms.begin(), terms.end(), [&](UOp r) { return isOpen(other, r); }))
      for (UOp r : rangesIn(other.src().subspan(1))) count(r);
  return places;
}

int64_t sumsOver(const KernelOptimizer& s, UOp range) {
  return std::ranges::count_if(s.reduces(), [&](UOp red) {
    const auto over = rangesIn(red.src().subspan(1));
    return std::ranges::find(over, range) != over.end();
  });
}

/// The terms of a reduction that lie side by side become several vectors of accumulators, which wait for each other less. Sums
/// that share the loop have as many each, and all of them stay in registers.
void giveLanes(KernelOptimizer& s, UOp red, int64_t width) {
  UOp along;
  for (UOp r : rangesIn(red.src().subspan(1)))
    if (suitsLanes(s, r)) along = r;
  int64_t amount = along ? lanesOfRow(s, along, width) : 0;
  const int64_t accumulators = amount ? sumsOver(s, along) * placesIn(s, red) : 0;
  while (amount > width && amount % (2 * width) == 0 &&
         amount * accumulators > mostTileRegisters(vectorRegisters(s.target())) * width)
    amount /= 2;
  if (amount && amount * placesIn(s, red) <= kMostPlaces)
    tryApply(s, unroll(s, along, amount),
             inWords("terms of a row lie side by side: vectors of accumulators"));
}

/// Each loop along a row becomes lanes of its own: those of reductions as accumulators, those that store a row for the
/// kernel or its results as one vector.
void chooseForRows(KernelOptimizer& s, int64_t width) {
  for (size_t i = 0; i < s.reduces().size(); ++i) giveLanes(s, s.reduces()[i], width);
  std::vector<UOp> loops = s.ranges();
  for (UOp r : loops) {
    bool isOuter =
        std::any_of(s.reduces().begin(), s.reduces().end(), [&](UOp red) { return isOpen(red, r); });
    if (r.axisType() != AxisType::Loop || isOuter || !suitsLanes(s, r)) continue;
    const int64_t amount = largestDivisor(extentOf(r), {width, width / 2, 4});
    const Decision why = inWords("elements of a row lie next to each other along it");
    if (amount < width && extentOf(r) >= 2 * width && tryOverlap(s, OptOp::UPCAST, axisOf(s, r), width, why))
      continue;
    if (amount) tryApply(s, OptOp::UPCAST, axisOf(s, r), amount, why);
  }
}

/// Sums beside the main one, such as those of a norm of many tensors, have lanes of their own unless results, or terms of a loop
/// that they share, are lanes.
/// `main`: the number of the main one. An Opt makes new nodes, in the same order, so the time for many sums grows with the
/// square of their number.
void chooseForFurtherSums(KernelOptimizer& s, size_t main, int64_t width) {
  constexpr size_t kMostSums = 128;
  if (s.reduces().size() > kMostSums) return;
  for (UOp red : s.reduces())
    if (red.src(0).below().contains(Op::REDUCE)) return;
  auto hasTermsAsLanes = [&](UOp red) {
    const auto over = rangesIn(red.src().subspan(1));
    return std::ranges::any_of(over, [&](UOp r) { return r.axisType() == AxisType::Unroll; });
  };
  const bool areTerms = hasTermsAsLanes(s.reduces()[main]);
  for (size_t i = 0; i < s.reduces().size(); ++i) {
    const UOp red = s.reduces()[i];
    if (i != main && !hasTermsAsLanes(red) && (areTerms || placesIn(s, red) == 1)) giveLanes(s, red, width);
  }
}

int64_t vectorWidth(const Target& target) {
  return target.supportsVectors ? std::max(4, std::max(target.aluLanes, target.maxVectorLanes)) : 4;
}
/// Lanes of the type that the kernel sums.
int64_t lanesOf(const Target& target, const KernelShape& k) {
  const int64_t width = vectorWidth(target);
  return k.reduction ? width * 4 / std::max(4, k.reduction.dtype().scalar().itemsize()) : width;
}

/// Operations on values in an iteration; those that become a series count as its terms.
double operationsOf(UOp ast) {
  constexpr OpSet kSeries{Op::EXP2, Op::LOG2, Op::SIN, Op::POW};
  constexpr double kTerms = 12, kRounds = 100;
  double operations = 0;
  for (UOp u : ast.toposort()) {
    if (u.dtype().kind() == Scalar::Index) continue;
    if (u.in(kSeries))
      operations += kTerms;
    else if (u.is(Op::THREEFRY))
      operations += kRounds;
    else if (u.in(group::kAlu))
      operations += 1;
  }
  return operations;
}

/// Bytes between the results of two threads that share a loop: of the store where they are nearest, each thread taking an equal part.
double bytesBetween(const std::vector<UOp>& stores, UOp loop, int64_t threads) {
  double least = INFINITY;
  for (UOp store : stores) {
    const UOp at = store.src(0);
    if (!at.is(Op::INDEX) || !at.src(1).dependsOn(loop)) continue;
    UOpMap<UOp> start;
    for (UOp r : at.src(1).ranges())
      if (r != loop) start[r] = UOp::index(0);
    const UOp along = at.src(1).substitute(start);
    const auto places = static_cast<double>(along.vmax() - along.vmin());
    least = std::min(least, places * at.dtype().base().itemsize() / static_cast<double>(threads));
  }
  return least;
}

/// Loops side by side are multiplied as well, so the product is no integer: many of them would leave 64 bits.
/// `stores`: of each iteration.
void chooseThreads(KernelOptimizer& s, size_t stores) {
  double work = static_cast<double>(std::max<size_t>(1, stores));
  work *= std::max(1.0, operationsOf(s.ast()) / (kPlainWork * work));
  for (size_t i = 0; i < s.ranges().size(); ++i)
    if (!isOfCopy(s, s.ranges()[i])) work *= static_cast<double>(std::max<int64_t>(1, s.extent(i)));
  const int64_t cores = std::min<int64_t>(cpuCount(), s.target().globalMax[0]);
  std::vector<UOp> parallel = s.parallelRanges();
  // Outer loops come first: the inner loops of a thread then read the same memory again and again.
  std::stable_sort(parallel.begin(), parallel.end(),
                   [](UOp a, UOp b) { return a.arg().as<RangeArg>().ids < b.arg().as<RangeArg>().ids; });
  // Threads whose results share lines wait for each other: rows of 49 floats, halved, took twice as long.
  constexpr double kFewLines = 512;
  if (parallel.size() > 1)
    std::ranges::stable_partition(parallel,
                                  [&](UOp r) { return bytesBetween(s.stores(), r, cores) >= kFewLines; });
  const Decision why{.reason = fmt::format("each thread has {} iterations or more", kWorkPerThread)};
  const double most = std::min(static_cast<double>(cores), work / kWorkPerThread);
  for (auto threads = static_cast<int64_t>(most); threads > 1; --threads)
    for (UOp r : parallel) {
      const int axis = axisOf(s, r);
      if (r.axisType() != AxisType::Loop || axis < 0) continue;
      // Of an outer loop the last thread rather repeats a step than that threads share each row of an inner one.
      const int64_t steps = extentNow(s, r), rest = steps % threads;
      if (rest == 0 ? tryApply(s, OptOp::THREAD, axis, threads, why)
                    : steps >= kOverlapFrom * threads && tryOverlap(s, OptOp::THREAD, axis, threads, why))
        return;
    }
}

} // namespace

void chooseOpts(KernelOptimizer& s) {
  KernelShape k = inspect(s);
  if (s.target().hasLocal) {
    chooseForGroups(s, k);
    return;
  }
  const int64_t width = vectorWidth(s.target()), lanes = lanesOf(s.target(), k);
  if (hasStages(s))
    chooseForStages(s, width);
  else if (keepsRows(s, k))
    chooseForRows(s, lanes);
  else if (k.reduction) {
    const auto main = static_cast<size_t>(std::ranges::find(s.reduces(), k.reduction) - s.reduces().begin());
    if (!chooseTiles(s, k) && !chooseForWindows(s, k, lanes) && !chooseForWindowSums(s, k, lanes))
      chooseForReduction(s, k, lanes);
    if (s.reduces().size() > 1) chooseForFurtherSums(s, main, lanes);
  } else
    chooseForElementwise(s, k, width);
  if (s.target().hasThreads) chooseThreads(s, k.reduction ? 1 : k.writes.size());
}

std::optional<double> heuristic::priceOfOpts(UOp ast, const Target& target, const std::vector<Opt>& opts) {
  KernelOptimizer s(ast, target);
  const KernelShape k = inspect(s);
  if (!k.reduction || target.hasLocal || keepsRows(s, k) || hasStages(s)) return std::nullopt;
  const int64_t width = lanesOf(target, k);
  const std::vector<TileAxis> axes = tileAxes(s, k, width);
  std::vector<Tile::Part> parts;
  for (const Opt& o : opts) {
    if (o.op != OptOp::UPCAST && o.op != OptOp::UNROLL && o.op != OptOp::THREAD && o.op != OptOp::SWAP)
      return std::nullopt;
    const bool isTile = o.op == OptOp::UPCAST || o.op == OptOp::UNROLL;
    for (const TileAxis& a : axes) {
      const int at = o.op == OptOp::UNROLL ? unrollAxis(s, a.range) : axisOf(s, a.range);
      if (!isTile || at < 0 || at != o.axis || a.isTerm != (o.op == OptOp::UNROLL)) continue;
      const int64_t amount = o.arg.empty() || o.arg[0] == 0 ? a.extent : o.arg[0];
      if (std::ranges::find(parts, a.range, &Tile::Part::range) != parts.end()) return std::nullopt;
      parts.push_back({a.range, amount, a.isTerm});
    }
    s.apply(o);
  }
  return priceOfTile(axes, machineOf(s, k, width), parts);
}

} // namespace uopscope
