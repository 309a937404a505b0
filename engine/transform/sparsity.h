// Sparsity: which elements of an argument can influence which elements of a value, found by reading the
// graph.
//
//   Sparsity s = sparsityOf(y, p);           // y[i] = x[i] * x[i + 1]: row i has the columns i and i + 1
//
// The values of the argument are not used. Movement operations map indices, elementwise operations and
// reductions make unions, and jumps (comparisons, rounding) and detach() end a path. Conditions of where()
// that depend on no argument, such as those of an index tensor, are evaluated.
//
// Invariant: an element that is not in the pattern has derivative zero for every argument.
#pragma once
#include "engine/uop/uop.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace uopscope {

/// Compressed rows: the columns of row r are indices[indptr[r]] up to indices[indptr[r + 1]], ascending.
struct Sparsity {
  int64_t rows = 0, columns = 0;
  std::vector<int32_t> indptr, indices;
  bool forward = true;     ///< whether every operation on the way has a forward derivative
  bool fromValues = false; ///< the pattern depends on values in memory, and may change with them
};

/// Rows are the elements of the value, columns are those of the placeholder.
Sparsity sparsityOf(UOp value, UOp placeholder);
/// The same by the graph alone: no condition is computed, both sides of a where() count. Nothing where more than a quarter of the
/// elements are in the pattern, or where it takes as much to find out, and where an operation is not understood.
std::optional<Sparsity> sparsityIfSparse(UOp value, UOp placeholder);

/// Columns (or rows) whose patterns do not overlap share a colour: one derivative then contains all of them.
struct Coloring {
  bool byColumns = true;
  int32_t colors = 0;
  std::vector<int32_t> color; ///< per column or row; -1 if it is empty
};

enum class Seeds : uint8_t { Fewest, Columns, Rows };

/// A colouring of columns or of rows, or the smaller of both. Greedy, by the heuristic of Curtis, Powell and Reid
/// (1974) in the natural order and in the smallest-last order of Matula and Beck (1983), whichever needs
/// fewer colours (Coleman and Moré, 1983).
Coloring colorPattern(const Sparsity& s, Seeds seeds = Seeds::Fewest);

} // namespace uopscope
