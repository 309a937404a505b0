// Sparsity: which elements of an argument can reach which elements of a value, by reading the graph.
//
//   Sparsity s = sparsityOf(y, p);           // y[i] = x[i] * x[i + 1]: row i has the columns i and i + 1
//
// Nothing is computed with numbers of the argument. Movement operations are maps of indices, elementwise
// operations and reductions are unions, jumps (comparisons, rounding) and detach() end a path. Conditions of
// where() that depend on no argument, such as those of an index tensor, are evaluated and read.
//
// Invariant: an element that is not in the pattern has derivative zero for every argument.
#pragma once
#include "engine/uop/uop.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace uopscope {

/// Compressed rows: columns of row r, ascending, are indices[indptr[r]] up to indices[indptr[r + 1]].
struct Sparsity {
  int64_t rows = 0, columns = 0;
  std::vector<int32_t> indptr, indices;
  bool forward = true;     ///< whether every operation on the way has a forward derivative
  bool fromValues = false; ///< whether values of tensors in memory decided: another value, another pattern
};

/// Rows are the elements of the value, columns those of the placeholder.
Sparsity sparsityOf(UOp value, UOp placeholder);
/// The same by the graph alone: no condition is computed, both sides of a where() count. Nothing where more than a quarter of the
/// elements are in the pattern, or where it takes as much to find out, and where an operation is not understood.
std::optional<Sparsity> sparsityIfSparse(UOp value, UOp placeholder);

/// Columns (or rows) whose patterns do not meet share a colour, so that one derivative gives all of them.
struct Coloring {
  bool byColumns = true;
  int32_t colors = 0;
  std::vector<int32_t> color; ///< of each column or row; -1 where it is empty
};

enum class Seeds : uint8_t { Fewest, Columns, Rows };

/// A colouring of columns or of rows, or the smaller of both. Greedy, by the heuristic of Curtis, Powell and Reid
/// (1974) in the natural order and in the smallest-last order of Matula and Beck (1983), whichever needs
/// fewer colours (Coleman and Moré, 1983).
Coloring colorPattern(const Sparsity& s, Seeds seeds = Seeds::Fewest);

} // namespace uopscope
