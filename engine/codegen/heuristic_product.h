// A product of matrices as the choice of Opts for work groups sees it: its rows, columns and terms, and which of them lie side
// by side.
//
//   Product p;
//   if (findProduct(shape, p)) ...        // p.row: the loop that the left operand alone depends on
#pragma once
#include "engine/codegen/heuristic.h"

namespace uopscope::heuristic {

constexpr int64_t kThreads = 256; ///< in a group

struct Product {
  UOp row, column, term;
  bool columnsInMemory = false; ///< columns of the results and of the right operand are contiguous
  bool termsInMemory = false;   ///< terms of the left operand are contiguous
  bool rowsInMemory = false;    ///< rows of the left operand are contiguous
};

/// The product of the extents of these ranges.
int64_t product(const std::vector<UOp>& ranges);
/// Finds the rows, which the left operand alone depends on, and the columns, which the right one alone depends on.
bool findProduct(const KernelShape& k, Product& p);
/// Opts of a product whose types fit a tensor core; false if none does, or the target has none.
bool chooseTensorCores(KernelOptimizer& s, const KernelShape& k);

/// Opts of a product for the tiles of a processor (tile_cores.h); false if it has none, or they do not fit.
bool chooseTiles(KernelOptimizer& s, const KernelShape& k);

} // namespace uopscope::heuristic
