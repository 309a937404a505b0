// The order of blocks: the work groups of a product are launched in bands, so that those which run at the same
// time share operands, and the cache that all processors read through serves most of what they read.
//
// A GPU starts groups in the order of their numbers, as many as fit at once. A group of a product reads a row
// of blocks of the left operand and a column of blocks of the right one. In rows, eight groups that run at
// once read one row and eight columns; in bands of two rows they read two rows and four columns:
//
//   in rows        0 1 2 3 4 5 6 7        in bands of 2 rows   0 2 4 6 8 ..
//                  8 9 ..                                      1 3 5 7 9 ..
//
//   BlockGrid grid{.rows = 32, .columns = 16, .rowBytes = 1 << 20, .columnBytes = 2 << 20};
//   bytesRead(grid, 132, 1);        // in rows
//   bytesRead(grid, 132, 8);        // in bands of 8
//
// The order is a matter of ranges: the row's range is split, and its inner part becomes the range that varies
// fastest. Invariant: every block is computed once, whatever the order.
#pragma once
#include "engine/codegen/target.h"

namespace uopscope {

/// The blocks of a product.
struct BlockGrid {
  int64_t rows = 1, columns = 1;
  int64_t rowBytes = 0, columnBytes = 0; ///< that a block reads of the operands: of its row, of its column
};

/// The groups of a product that a processor runs at once, if each thread has so many results.
int64_t groupsAtOnce(int64_t threads, int64_t results);

/// The bytes that come from memory if groups run `atOnce` at a time, in bands of `band` rows, and a byte is
/// read once for all groups that run at the same time.
int64_t bytesRead(const BlockGrid& grid, int64_t atOnce, int64_t band);

/// The kernel with the blocks of its product in bands, if fewer bytes come from memory then; otherwise
/// unchanged. Needs a target whose cache and processors are known. Range ids from `nextId` on are free.
UOp orderBlocks(UOp ast, const Target& target, int64_t nextId);

} // namespace uopscope
