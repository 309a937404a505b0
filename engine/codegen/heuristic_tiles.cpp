// Opts for the tiles of a processor (tile_cores.h): which core, how many tiles side by side, and which loop is outside. Prices are
// cycles of the unit: a product begins every 16, and a tile comes from the second cache, at 48 bytes a cycle.
#include "engine/base/context_var.h"
#include "engine/codegen/heuristic_product.h"
#include "engine/codegen/panels.h"
#include "engine/codegen/tensor_core_layout.h"
#include "engine/codegen/tensor_core_product.h"
#include "engine/codegen/tile_cores.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace uopscope::heuristic {

namespace {

constexpr double kCyclesOfProduct = 16, kCyclesOfRead = kTileBytes / 48.0;
constexpr int64_t kRegisters = 8;       ///< of the unit: sums, and operands that are read
constexpr int64_t kMostElements = 4095; ///< of the operands of all products of a step: lanes of one vector

/// A product that a core can compute, and its number among the choices of the Opt.
struct Choice {
  int64_t core = -1;
  int at = 0;
  TensorCoreProduct product;
};

/// Whether the operands come to the core at a good price: rows of the left one lie in memory, or all of it fits a panel, and so
/// does what a column of tiles reads of the right one.
bool comeInTiles(const TensorCoreProduct& p, const KernelShape& k, int64_t columnTiles) {
  int64_t terms = 1;
  for (UOp r : rangesIn(k.reduction.src().subspan(1))) {
    if (extentOf(r) < 1) return false; // no panel for a number of terms that is not known
    terms *= extentOf(r);
  }
  const int64_t right = terms * columnTiles * kTileLines * p.right.dtype().itemsize();
  const int64_t left =
      liesInRows(p.left, p.row, p.term) ? 0 : terms * extentOf(p.row) * p.left.dtype().itemsize();
  return left + right <= kCopyBytes;
}

/// The product that the loops of the kernel suggest: columns side by side in the results.
Choice chooseCore(const KernelOptimizer& s, const Product& p) {
  for (size_t i = 0; i < s.target().tensorCores.size(); ++i) {
    const TensorCore& core = s.target().tensorCores[i];
    if (!isTileCore(core) || !mayUse(s.target(), core)) continue;
    const auto found = productsFor(core, s.reduces(), s.parallelRanges());
    for (size_t at = 0; at < found.size(); ++at) {
      const TensorCoreProduct& f = found[at];
      if (f.row == p.row && f.column == p.column && f.term == p.term && extentOf(f.row) % rowsOf(core) == 0 &&
          extentOf(f.column) % columnsOf(core) == 0 && extentOf(f.term) % termsOf(core) == 0)
        return {static_cast<int64_t>(i), static_cast<int>(at), f};
    }
  }
  return {};
}

double cyclesOf(int64_t rows, int64_t columns) {
  const auto products = static_cast<double>(rows * columns), reads = static_cast<double>(rows + columns);
  return std::max(kCyclesOfProduct, kCyclesOfRead * reads / products);
}

} // namespace

bool chooseTiles(KernelOptimizer& s, const KernelShape& k) {
  if (!vars::tc || !k.reduction || s.reduces().size() != 1 || s.ast().below().has(Op::AFTER)) return false;
  if (std::ranges::none_of(s.target().tensorCores, isTileCore)) return false;
  Product p;
  if (!findProduct(k, p) || !writtenNextToEachOther(k, p.column)) return false;
  const Choice choice = chooseCore(s, p);
  if (choice.core < 0) return false;
  const TensorCore& core = s.target().tensorCores[static_cast<size_t>(choice.core)];
  // The tiles of a step: sums, and one operand of each kind for all of them, have registers.
  struct Block {
    int64_t rows, columns;
  };
  Block block{1, 1};
  Decision why;
  double best = std::numeric_limits<double>::max();
  for (const Block b : {Block{2, 2}, Block{1, 3}, Block{3, 1}, Block{1, 2}, Block{2, 1}, Block{1, 1}}) {
    if (extentOf(p.row) % (b.rows * rowsOf(core)) || extentOf(p.column) % (b.columns * columnsOf(core)))
      continue;
    if (b.rows * b.columns + b.rows + b.columns > kRegisters ||
        b.rows * b.columns * rowsOf(core) * termsOf(core) > kMostElements)
      continue;
    const double cycles = cyclesOf(b.rows, b.columns);
    why.others.push_back({fmt::format("{} by {} tiles", b.rows, b.columns), cycles});
    if (cycles >= best) continue;
    best = cycles, block = b;
  }
  if (!comeInTiles(choice.product, k, block.columns)) return false;
  std::erase_if(why.others, [&](const auto& o) {
    return o.what == fmt::format("{} by {} tiles", block.rows, block.columns);
  });
  why.reason = fmt::format("{}: {} by {} tiles share their operands, {} terms a step", core.name, block.rows,
                           block.columns, termsOf(core));
  why.price = best;
  why.unit = "cycles a tile and step";
  if (!tryApply(s, Opt{OptOp::TC, choice.at, {choice.core, 0, 1}}, why)) return false;
  const Decision together = inWords("tiles side by side share their operands");
  if (block.rows > 1) tryApply(s, OptOp::UPCAST, axisOf(s, p.row), block.rows, together);
  if (block.columns > 1) tryApply(s, OptOp::UPCAST, axisOf(s, p.column), block.columns, together);
  const int row = axisOf(s, p.row), column = axisOf(s, p.column);
  if (row >= 0 && column >= 0 && row < column && extentNow(s, p.row) > 1 && extentNow(s, p.column) > 1)
    tryApply(s, OptOp::SWAP, row, column,
             inWords("the panel of a column of tiles is made once for all rows"));
  return true;
}

} // namespace uopscope::heuristic
