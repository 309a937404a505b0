// Opts for tensor cores: which core, how many tiles a warp and a group compute, and how many terms a step has. Prices are cycles by
// the rates of the core and of shared memory (staging_stages.h).
#include "engine/base/context_var.h"
#include "engine/codegen/async_products.h"
#include "engine/codegen/block_order.h"
#include "engine/codegen/heuristic_product.h"
#include "engine/codegen/shared_operand.h"
#include "engine/codegen/staging_stages.h"
#include "engine/codegen/tensor_core_product.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope::heuristic {

namespace {

constexpr int64_t kProcessors =
    132; ///< of a GPU that does not say how many it has: that one's; tiles may grow while all have work
constexpr int64_t kTilesOfTerms = 4;      ///< a step of a core that reads shared memory itself
constexpr int64_t kMostForTwoGroups = 64; ///< results of a thread

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

/// The cycles of a launch whose warps hold fragments of the tiles that tilesFor chooses.
double cyclesByWarps(const Product& p, const KernelShape& k, const TensorCore& core, const Target& target) {
  const CoreTiles t = tilesFor(p, core, target);
  const int64_t processors = target.processors > 0 ? target.processors : kProcessors;
  const int64_t warpRows = rowsOf(core) * t.rowsAtOnce * t.rowTiles,
                warpColumns = columnsOf(core) * t.columnsAtOnce * t.columnTiles, rows = warpRows * t.rowWarps,
                columns = warpColumns * t.columnWarps, warps = t.rowWarps * t.columnWarps,
                inStep = t.termsAtOnce * termsOf(core);
  StagedStep step{.products = rows * columns * inStep,
                  .bytes = (rows + columns) * inStep * core.in.itemsize(),
                  .groups = groupsAtOnce(warps * core.threads, warpRows * warpColumns / core.threads)};
  const Stages stages =
      stagesOf(step, core.rate, target.sharedMax, std::max<int64_t>(2, extentOf(p.term) / inStep));
  const int64_t groups = (product(k.outputs) + rows * columns - 1) / (rows * columns);
  step.groups = std::min(stages.groups, std::max<int64_t>(1, groups / processors));
  const int64_t runs = (groups + processors * step.groups - 1) / (processors * step.groups);
  const int64_t steps = runs * product(k.summed) / inStep;
  return cyclesOfStep(step, core.rate, std::max<int64_t>(2, stages.count)) * static_cast<double>(steps);
}

/// The cheapest core that reads shared memory itself, by the cycles of the whole launch; none if others are cheaper.
SharedChoice chooseSharedCore(const Product& p, const KernelShape& k, const Target& target) {
  const int64_t processors = target.processors > 0 ? target.processors : kProcessors;
  const int64_t rows = extentOf(p.row), columns = extentOf(p.column), terms = extentOf(p.term);
  std::vector<std::pair<double, SharedChoice>> found;
  std::vector<Decision::Alternative> prices;
  for (size_t i = 0; i < target.tensorCores.size(); ++i) {
    const TensorCore& core = target.tensorCores[i];
    if (!mayUse(target, core) || core.in != k.reads[0].dtype() || core.in != k.reads[1].dtype() || !core.rate)
      continue;
    if (!readsShared(core)) {
      const double cycles = cyclesByWarps(p, k, core, target);
      prices.push_back({core.name, cycles});
      found.emplace_back(cycles, SharedChoice{});
      continue;
    }
    const int64_t inStep = kTilesOfTerms * termsOf(core), steps = terms / inStep;
    for (int64_t warpRows : {1, 2, 4}) {
      const int64_t tileRows = warpRows * rowsOf(core), tileColumns = columnsOf(core),
                    threads = warpRows * core.threads, held = rowsOf(core) * columnsOf(core) / core.threads;
      if (rows % tileRows || columns % tileColumns || terms % inStep || steps < 2 + kProductsAhead) continue;
      if (threads > kThreads && held > kMostForTwoGroups) continue; // a processor has no registers for them
      StagedStep step{.products = tileRows * tileColumns * inStep,
                      .bytes = (tileRows + tileColumns) * inStep * core.in.itemsize(),
                      .groups = groupsAtOnce(threads, held),
                      .computing = kProductsAhead};
      const Stages stages = stagesOf(step, core.rate, target.sharedMax, steps);
      if (!stages.count) continue;
      const int64_t groups = product(k.outputs) / (tileRows * tileColumns);
      step.groups = std::min(stages.groups, std::max<int64_t>(1, groups / processors));
      const int64_t runs = (groups + processors * step.groups - 1) / (processors * step.groups);
      const int64_t all = runs * product(k.summed) / inStep;
      const double cycles = cyclesOfStep(step, core.rate, stages.count) * static_cast<double>(all);
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

} // namespace

bool chooseTensorCores(KernelOptimizer& s, const KernelShape& k) {
  if (!vars::tc || s.target().tensorCores.empty() || !k.reduction) return false;
  Product p;
  const int64_t select = vars::tcSelect;
  const Opt tc{OptOp::TC, 0, {select, 2, 1}};
  if (select >= static_cast<int64_t>(s.target().tensorCores.size())) return false;
  Decision fits = inWords("the product's types fit a tensor core");
  if (!findProduct(k, p)) return tryApply(s, tc, fits);
  if (useSharedCore(s, k, p)) return true;
  // Tiles are interleaved: the elements that a thread holds of four neighbouring tiles are contiguous in
  // memory.
  KernelOptimizer before = s;
  const CoreTiles t =
      tilesFor(p, s.target().tensorCores[static_cast<size_t>(std::max<int64_t>(0, select))], s.target());
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

} // namespace uopscope::heuristic
