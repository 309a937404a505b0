// Opts for targets with work groups. A GPU wants tens of thousands of threads, neighbouring threads at
// neighbouring addresses, loads of 16 bytes, and several uses of each value held in registers:
//
//   a product of matrices   tensor cores where the types fit, else a tile of registers for each thread
//   a long sum              the threads of a group share it, and read neighbouring terms
//   any other kernel        four contiguous results for each thread, neighbouring threads along that axis
//
// Of the LOCAL axes of a group, the one applied last varies fastest in the number of a thread.
#include "engine/base/context_var.h"
#include "engine/codegen/async_products.h"
#include "engine/codegen/block_order.h"
#include "engine/codegen/heuristic.h"
#include "engine/codegen/shared_operand.h"
#include "engine/codegen/staging_stages.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope::heuristic {

namespace {

// These values were found by trying several on an H100 (docs/guide/devices.md has the figures): no model
// prices them yet.
constexpr int64_t kThreads = 256;         ///< in a group
constexpr int64_t kEnoughThreads = 16384; ///< threads that keep a large GPU busy
constexpr int64_t kProcessors =
    132; ///< of a GPU that does not say how many it has: that one's; tiles may grow while all have work
constexpr int64_t kTilesOfTerms = 4;      ///< a step of a core that reads shared memory itself
constexpr int64_t kMostForTwoGroups = 64; ///< results of a thread
constexpr int64_t kShortestShared = 128;  ///< fewest terms of a sum that threads share

int64_t product(const std::vector<UOp>& ranges) {
  int64_t n = 1;
  for (UOp r : ranges) n *= std::max<int64_t>(1, extentOf(r));
  return n;
}

int64_t divisorUpTo(int64_t n, int64_t most) {
  for (int64_t d = std::min<int64_t>(most, n); d > 1; --d)
    if (n % d == 0 && ((d & (d - 1)) == 0 || most < 16)) return d;
  return 1;
}

/// The axis number that GROUP uses for a range.
int groupAxis(const KernelOptimizer& s, UOp range) {
  int n = 0;
  for (size_t a : s.axesOf({AxisType::Reduce})) {
    if (s.ranges()[a].arg() == range.arg()) return n;
    ++n;
  }
  return -1;
}

/// Makes output loops threads, up to `most` in a group. Neighbouring threads take neighbouring steps of the
/// loop `sideBySide` (null: the innermost loop).
void spreadOverThreads(KernelOptimizer& s, const KernelShape& k, int64_t most, UOp sideBySide = {}) {
  std::vector<UOp> order(k.outputs.rbegin(), k.outputs.rend());
  if (sideBySide) std::stable_partition(order.begin(), order.end(), [&](UOp r) { return r == sideBySide; });
  std::vector<std::pair<UOp, int64_t>> amounts;
  for (UOp r : order) {
    int64_t amount = divisorUpTo(extentNow(s, r), most);
    if (amount <= 1) continue;
    amounts.emplace_back(r, amount);
    most /= amount;
    if (most <= 1) break;
  }
  for (auto a = amounts.rbegin(); a != amounts.rend(); ++a)
    tryApply(s, OptOp::LOCAL, axisOf(s, a->first), a->second,
             inWords("neighbouring threads take neighbouring results"));
}

/// Pads an output loop whose extent has no divisor suitable for threads.
void padForThreads(KernelOptimizer& s, const KernelShape& k) {
  if (product(k.outputs) < 1024) return;
  for (UOp r : k.outputs)
    if (divisorUpTo(extentOf(r), 32) >= 8) return;
  UOp longest = *std::max_element(k.outputs.begin(), k.outputs.end(),
                                  [](UOp a, UOp b) { return extentOf(a) < extentOf(b); });
  tryApply(s, OptOp::PADTO, axisOf(s, longest), 32, inWords("no loop of output divides into threads"));
}

struct Product {
  UOp row, column, term;
  bool columnsInMemory = false; ///< columns of the results and of the right operand are contiguous
  bool termsInMemory = false;   ///< terms of the left operand are contiguous
  bool rowsInMemory = false;    ///< rows of the left operand are contiguous
};

/// Finds the rows, which the left operand alone depends on, and the columns, which the right one alone
/// depends on.
bool findProduct(const KernelShape& k, Product& p) {
  if (k.reads.size() != 2 || k.summed.empty()) return false;
  for (UOp column : k.outputs)
    for (UOp row : k.outputs)
      for (int left = 0; left < 2; ++left) {
        UOp a = k.reads[static_cast<size_t>(left)], b = k.reads[static_cast<size_t>(1 - left)];
        if (row == column || strideOf(a, column) != 0 || strideOf(b, row) != 0 || strideOf(a, row) == 0 ||
            strideOf(b, column) == 0)
          continue;
        if (p.row && !writtenNextToEachOther(k, column)) continue;
        p.row = row;
        p.column = column;
        p.term = k.summed.back();
        for (UOp t : k.summed)
          if (strideOf(a, t) == 1) p.term = t;
        p.columnsInMemory = writtenNextToEachOther(k, column) && strideOf(b, column) == 1;
        p.termsInMemory = strideOf(a, p.term) == 1 || strideOf(b, p.term) == 1;
        p.rowsInMemory = strideOf(a, row) == 1;
      }
  return static_cast<bool>(p.row);
}

/// Each thread computes a tile of `rows * columns` results, which share the operands held in registers.
bool chooseForProduct(KernelOptimizer& s, const KernelShape& k) {
  Product p;
  if (!findProduct(k, p)) return false;
  int64_t rows = extentOf(p.row), columns = extentOf(p.column);
  if (product(k.outputs) < kEnoughThreads && product(k.summed) >= kShortestShared)
    return false; // chooseForLongSum lets threads share the sum
  struct Size {
    int64_t rows, columns;
  };
  Size tile{1, 1};
  for (Size t : {Size{8, 8}, Size{8, 4}, Size{4, 4}, Size{2, 4}, Size{2, 2}})
    if (rows % t.rows == 0 && columns % t.columns == 0 &&
        product(k.outputs) / (t.rows * t.columns) >= kEnoughThreads) {
      tile = t;
      break;
    }
  if (tile.rows == 1) {
    tile.rows = largestDivisor(rows, {2});
    tile.columns = largestDivisor(columns, {4, 2});
    if (!tile.rows || !tile.columns || product(k.outputs) < 4096) return false;
  }
  std::string used = fmt::format("{} loads a step give {} products of a thread", tile.rows + tile.columns,
                                 tile.rows * tile.columns);
  Decision why{.reason = used};
  if (int64_t terms = largestDivisor(extentOf(p.term), {16, 8, 4}))
    tryApply(s, OptOp::UNROLL, unrollAxis(s, p.term), terms, inWords("several terms are loaded at once"));
  // Four contiguous results are one load. A second four lie as far away as the threads of the group reach.
  int64_t sideBySide = std::min<int64_t>(4, tile.columns), below = std::min<int64_t>(4, tile.rows);
  tryApply(s, OptOp::UPCAST, axisOf(s, p.column), sideBySide, why);
  tryApply(s, OptOp::UPCAST, axisOf(s, p.row), below, why);
  int64_t across = divisorUpTo(extentNow(s, p.column) / (tile.columns / sideBySide), 16);
  int64_t down =
      divisorUpTo(extentNow(s, p.row) / (tile.rows / below), kThreads / std::max<int64_t>(16, across));
  if (down > 1)
    tryApply(s, OptOp::LOCAL, axisOf(s, p.row), down,
             inWords("threads of a group share columns of the right operand"));
  if (across > 1)
    tryApply(s, OptOp::LOCAL, axisOf(s, p.column), across,
             inWords("threads of a group share rows of the left operand"));
  if (tile.columns > sideBySide)
    tryApply(s, OptOp::UPCAST, axisOf(s, p.column), tile.columns / sideBySide, why);
  if (tile.rows > below) tryApply(s, OptOp::UPCAST, axisOf(s, p.row), tile.rows / below, why);
  return true;
}

/// The amounts of the Opts around TC; 1 where there is none.
struct CoreTiles {
  int64_t columnsAtOnce = 1, rowsAtOnce = 1, termsAtOnce = 1; ///< tiles side by side in memory
  int64_t rowTiles = 1, columnTiles = 1;                      ///< further tiles of a warp
  int64_t rowWarps = 1, columnWarps = 1;                      ///< of a group
  Decision terms = inWords("terms of several tiles are loaded at once");
};

/// The tiles of terms that warps which share operands take a step: the cheapest of those whose fragments a thread has
/// registers for.
void chooseTerms(CoreTiles& t, int64_t rows, int64_t columns, int64_t terms, int64_t held,
                 const TensorCore& core, const Target& target) {
  // Registers of results and operands; the others are addresses and loops. Threads of which a processor holds 512 have
  // 128, others 255.
  const int64_t registers = held <= kMostForTwoGroups ? 112 : 208;
  const int64_t threads = core.threads * t.rowWarps * t.columnWarps, perTerm = rows + columns,
                perThread = (rows / t.rowWarps + columns / t.columnWarps) * core.in.itemsize() / core.threads;
  std::vector<Decision::Alternative> all;
  for (int64_t amount : {4, 2}) {
    const int64_t inStep = amount * termsOf(core);
    if (terms % amount || terms / amount < 2 || held + inStep * perThread / 4 > registers) continue;
    const StagedStep step{.products = rows * columns * inStep,
                          .bytes = perTerm * inStep * core.in.itemsize(),
                          .groups = groupsAtOnce(threads, held)};
    if (2 * step.bytes > target.sharedMax) continue;
    double cycles = 0;
    if (core.rate) {
      const Stages stages = stagesOf(step, core.rate, target.sharedMax, terms / amount);
      if (!stages.count) continue;
      cycles = stages.cycles / static_cast<double>(inStep);
    }
    all.push_back({fmt::format("{} terms a step", inStep), cycles});
    if (t.termsAtOnce > 1 && cycles >= t.terms.price.value_or(0)) continue;
    t.termsAtOnce = amount;
    t.terms = {.reason = fmt::format("warps share {} terms a step in shared memory", inStep)};
    if (core.rate) t.terms.price = cycles, t.terms.unit = "cycles a term";
  }
  for (const auto& other : all)
    if (t.terms.price && other.what != fmt::format("{} terms a step", t.termsAtOnce * termsOf(core)))
      t.terms.others.push_back(other);
}

/// Chooses how many tiles a warp and a group compute. The warps together keep all processors busy, and a
/// thread's registers hold 128 results.
CoreTiles tilesFor(const Product& p, const TensorCore& core, const Target& target) {
  auto tilesIn = [](UOp range, int64_t size) { return (extentOf(range) + size - 1) / size; };
  CoreTiles t;
  const int64_t processors = target.processors > 0 ? target.processors : kProcessors;
  int64_t rows = tilesIn(p.row, rowsOf(core)), columns = tilesIn(p.column, columnsOf(core)),
          terms = tilesIn(p.term, termsOf(core)), tiles = rows * columns;
  if (p.columnsInMemory && extentOf(p.column) % columnsOf(core) == 0)
    t.columnsAtOnce = columns % 8 == 0 && tiles / 8 >= 4 * processors ? 8
                      : columns % 4 == 0 && tiles / 4 >= processors   ? 4
                                                                      : 1;
  tiles /= t.columnsAtOnce;
  columns /= t.columnsAtOnce;
  int64_t held = rowsOf(core) * columnsOf(core) / core.threads * t.columnsAtOnce;
  auto more = [&](int64_t& left, std::initializer_list<int64_t> choices, bool (*fits)(int64_t),
                  int64_t busy) {
    int64_t amount = largestDivisor(left, choices);
    if (!amount || !fits(held * amount) || tiles / amount < busy) return int64_t{1};
    tiles /= amount;
    left /= amount;
    return amount;
  };
  auto inRegisters = [](int64_t results) { return results <= 128; };
  auto always = [](int64_t) { return true; };
  if (p.rowsInMemory && extentOf(p.row) % rowsOf(core) == 0)
    t.rowsAtOnce = more(rows, {4}, inRegisters, 4 * processors);
  held *= t.rowsAtOnce;
  t.rowTiles = more(rows, {4, 2}, inRegisters, 4 * processors);
  held *= t.rowTiles;
  t.columnTiles = more(columns, {8, 4, 2}, inRegisters, 4 * processors);
  t.rowWarps = more(rows, {2}, always, 2 * processors);
  t.columnWarps = more(columns, {4, 2}, always, 2 * processors);
  held *= t.columnTiles;
  if (extentOf(p.term) % termsOf(core)) return t;
  if (t.rowWarps * t.columnWarps > 1)
    chooseTerms(t, rowsOf(core) * t.rowsAtOnce * t.rowTiles * t.rowWarps,
                columnsOf(core) * t.columnsAtOnce * t.columnTiles * t.columnWarps, terms, held, core, target);
  else if (p.termsInMemory)
    t.termsAtOnce = std::max<int64_t>(1, largestDivisor(terms, {4, 2}));
  return t;
}

/// A core that reads shared memory itself, and the warps' rows of a group.
struct SharedChoice {
  int64_t core = -1, warpRows = 1;
  Decision why;
};

/// The cheapest core that reads shared memory itself, by the cycles of the whole launch; none if others are cheaper.
SharedChoice chooseSharedCore(const Product& p, const KernelShape& k, const Target& target) {
  const int64_t processors = target.processors > 0 ? target.processors : kProcessors;
  const int64_t rows = extentOf(p.row), columns = extentOf(p.column), terms = extentOf(p.term);
  const auto all = static_cast<double>(product(k.outputs)) * static_cast<double>(product(k.summed));
  std::vector<std::pair<double, SharedChoice>> found;
  std::vector<Decision::Alternative> prices;
  for (size_t i = 0; i < target.tensorCores.size(); ++i) {
    const TensorCore& core = target.tensorCores[i];
    if (core.in != k.reads[0].dtype() || core.in != k.reads[1].dtype() || !core.rate) continue;
    if (!readsShared(core)) {
      const double least = all / static_cast<double>(processors * core.rate);
      prices.push_back({fmt::format("{}, at least", core.name), least});
      found.emplace_back(least, SharedChoice{});
      continue;
    }
    const int64_t inStep = kTilesOfTerms * termsOf(core), steps = terms / inStep;
    for (int64_t warpRows : {1, 2, 4}) {
      const int64_t tileRows = warpRows * rowsOf(core), tileColumns = columnsOf(core),
                    threads = warpRows * core.threads, held = rowsOf(core) * columnsOf(core) / core.threads;
      if (rows % tileRows || columns % tileColumns || terms % inStep || steps < 2 + kProductsAhead) continue;
      if (threads > kThreads && held > kMostForTwoGroups) continue; // a processor has no registers for them
      const StagedStep step{.products = tileRows * tileColumns * inStep,
                            .bytes = (tileRows + tileColumns) * inStep * core.in.itemsize(),
                            .groups = groupsAtOnce(threads, held),
                            .computing = kProductsAhead};
      const Stages stages = stagesOf(step, core.rate, target.sharedMax, steps);
      if (!stages.count) continue;
      const int64_t groups = product(k.outputs) / (tileRows * tileColumns),
                    atOnce = processors * stages.groups, runs = (groups + atOnce - 1) / atOnce;
      const double cycles = stages.cycles * static_cast<double>(runs * product(k.summed) / inStep);
      std::string what = fmt::format("{} for {} rows", core.name, tileRows);
      found.emplace_back(cycles,
                         SharedChoice{static_cast<int64_t>(i),
                                      warpRows,
                                      {.reason = fmt::format("{}: {} groups of {} by {} results in {} runs",
                                                             what, groups, tileRows, tileColumns, runs),
                                       .price = cycles,
                                       .unit = "cycles"}});
      prices.push_back({std::move(what), cycles});
    }
  }
  if (found.empty()) return {};
  auto best = std::min_element(found.begin(), found.end(),
                               [](const auto& a, const auto& b) { return a.first < b.first; });
  SharedChoice choice = best->second;
  prices.erase(prices.begin() + (best - found.begin()));
  std::stable_sort(prices.begin(), prices.end(),
                   [](const auto& a, const auto& b) { return a.price < b.price; });
  choice.why.others = std::move(prices);
  return choice;
}

/// Operands that a core reads from shared memory itself: four tiles of terms a step, a row of 128 bytes.
bool useSharedCore(KernelOptimizer& s, const KernelShape& k, const Product& p) {
  const SharedChoice choice = chooseSharedCore(p, k, s.target());
  if (choice.core < 0) return false;
  KernelOptimizer before = s;
  const Opt tc{OptOp::TC, 0, {choice.core, 0, 1}};
  if (tryApply(s, tc, choice.why) &&
      tryApply(s, OptOp::UNROLL, unrollAxis(s, p.term), kTilesOfTerms,
               inWords("64 terms are a row of 128 bytes")) &&
      (choice.warpRows == 1 || tryApply(s, OptOp::LOCAL, axisOf(s, p.row), choice.warpRows,
                                        inWords("warps of a group share columns of the right operand"))))
    return true;
  s = std::move(before);
  return false;
}

bool chooseTensorCores(KernelOptimizer& s, const KernelShape& k) {
  if (!vars::tc || s.target().tensorCores.empty() || !k.reduction) return false;
  Product p;
  const Opt tc{OptOp::TC, 0, {-1, 2, 1}};
  Decision fits = inWords("the product's types fit a tensor core");
  if (!findProduct(k, p)) return tryApply(s, tc, fits);
  if (useSharedCore(s, k, p)) return true;
  // Tiles are interleaved: the elements that a thread holds of four neighbouring tiles are contiguous in
  // memory.
  KernelOptimizer before = s;
  const CoreTiles t = tilesFor(p, s.target().tensorCores[0], s.target());
  if (t.columnsAtOnce > 1)
    tryApply(s, OptOp::UPCAST, axisOf(s, p.column), t.columnsAtOnce,
             inWords("columns of several tiles are loaded at once"));
  if (t.rowsAtOnce > 1)
    tryApply(s, OptOp::UPCAST, axisOf(s, p.row), t.rowsAtOnce,
             inWords("rows of several tiles are loaded at once"));
  if (t.termsAtOnce > 1) tryApply(s, OptOp::UNROLL, unrollAxis(s, p.term), t.termsAtOnce, t.terms);
  if (!tryApply(s, tc, fits)) {
    s = std::move(before);
    return tryApply(s, tc, fits);
  }
  const Decision sideBySide = inWords("tiles side by side share their operands"),
                 sharing = inWords("warps of a group share operands");
  if (t.rowTiles > 1) tryApply(s, OptOp::UPCAST, axisOf(s, p.row), t.rowTiles, sideBySide);
  if (t.columnTiles > 1) tryApply(s, OptOp::UPCAST, axisOf(s, p.column), t.columnTiles, sideBySide);
  if (t.rowWarps > 1) tryApply(s, OptOp::LOCAL, axisOf(s, p.row), t.rowWarps, sharing);
  if (t.columnWarps > 1) tryApply(s, OptOp::LOCAL, axisOf(s, p.column), t.columnWarps, sharing);
  return true;
}

/// For few results of many terms: each thread of a group sums a part of the terms.
bool chooseForLongSum(KernelOptimizer& s, const KernelShape& k) {
  int64_t outputs = product(k.outputs), terms = product(k.summed);
  if (terms < kShortestShared) return false;
  UOp along; // a loop along which the terms are contiguous
  for (UOp t : k.summed) {
    bool suits = extentOf(t) >= 32 && std::all_of(k.reads.begin(), k.reads.end(), [&](UOp r) {
                   return strideOf(r, t) == 1 || strideOf(r, t) == 0;
                 });
    if (suits && std::any_of(k.reads.begin(), k.reads.end(), [&](UOp r) { return strideOf(r, t) == 1; }))
      along = t;
  }
  if (along) {
    int64_t n = extentOf(along);
    if (n % 4 == 0 && n / 4 >= 32 &&
        tryApply(s, OptOp::UNROLL, unrollAxis(s, along), 4, inWords("four terms are loaded at once")))
      n /= 4;
    int64_t group = divisorUpTo(n, outputs >= 2 * kEnoughThreads / 32 ? 64 : kThreads);
    if (group < 8) return false;
    if (group < 128) spreadOverThreads(s, k, 128 / group); // before GROUP, whose threads must be neighbours
    return tryApply(
        s, OptOp::GROUP, groupAxis(s, along), group,
        {.reason = fmt::format("{} results of {} terms: threads share each sum and read side by side",
                               outputs, terms)});
  }
  if (outputs >= kEnoughThreads) return false;
  UOp sideBySide; // a loop of results along which every read is contiguous or constant
  for (UOp r : k.outputs)
    if (readsSuitLanes(k, r)) sideBySide = r;
  UOp longest = *std::max_element(k.summed.begin(), k.summed.end(),
                                  [](UOp a, UOp b) { return extentOf(a) < extentOf(b); });
  int64_t across = sideBySide ? divisorUpTo(extentOf(sideBySide), 32) : 1;
  int64_t group = divisorUpTo(extentOf(longest), across >= 8 ? 16 : 64);
  if (group < 4) return false;
  if (!tryApply(s, OptOp::GROUP, groupAxis(s, longest), group,
                {.reason = fmt::format("{} results of {} terms: threads share each sum", outputs, terms)}))
    return false;
  if (across > 1)
    tryApply(s, OptOp::LOCAL, axisOf(s, sideBySide), across,
             inWords("neighbouring threads read side by side"));
  return true;
}

void chooseForResults(KernelOptimizer& s, const KernelShape& k) {
  UOp sideBySide;
  for (UOp r : k.outputs) {
    if (!writtenNextToEachOther(k, r)) continue;
    sideBySide = r;
    bool wide = extentOf(r) % 4 == 0 && product(k.outputs) / 4 >= kEnoughThreads &&
                (k.reduction || readsSuitLanes(k, r));
    if (wide) tryApply(s, OptOp::UPCAST, axisOf(s, r), 4, inWords("results lie next to each other along it"));
    break;
  }
  spreadOverThreads(s, k, k.reduction ? kThreads / 2 : kThreads, sideBySide);
}

} // namespace

void chooseForGroups(KernelOptimizer& s, const KernelShape& k) {
  if (vars::nolocals) {
    s.apply({OptOp::NOLOCALS, -1, {}}, inWords("NOLOCALS=1"));
    return;
  }
  if (chooseTensorCores(s, k)) return;
  if (k.reduction && (chooseForProduct(s, k) || chooseForLongSum(s, k))) return;
  if (k.outputs.empty()) return;
  padForThreads(s, k);
  chooseForResults(s, inspect(s));
}

} // namespace uopscope::heuristic
