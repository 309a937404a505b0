// Panels: the elements that the lanes of a matrix product read are copied once, so that they are contiguous.
//
// The rows of a panel (16 columns of a matrix, say) are as far apart as the matrix is wide. If that distance
// is a multiple of a page, a cache holds only eight of the rows, and a product of 1,024 by 1,024 runs at a
// fifth of the speed. A panel is read again for every row of the result, so its copy costs little. (Goto and
// van de Geijn, "Anatomy of high-performance matrix multiplication", TOMS 2008.)
//
// The same copy makes the columns of a transposed matrix contiguous, which lie apart in memory.
//
//   for n: for m: for k: acc += a[m*K + k] * b[k*N + n..]
//   for n: { for k: panel[k] = b[k*N + n..];  for m: for k: acc += a[m*K + k] * panel[k] }
// Of few columns the lanes are terms, which lie apart as well. Their panel has a row of lanes for each column:
//
//   panel[n][k..] = b[k, n];  for m: for n: for k by lanes: acc[m, n][lanes] += a[m, k..] * panel[n][k..]
#pragma once
#include "engine/codegen/target.h"

namespace uopscope {

/// Of one panel. Where the second cache does not hold it, it streams from the next one, which rows that compete for places would not.
constexpr int64_t kPanelBytes = 4 << 20;
constexpr int64_t kCopyBytes = 5 << 20; ///< all copies of a kernel: they lie on the stack of a thread, 8 MB

constexpr double kReuseApart = 4;    ///< fewest reads of a panel of elements that lie apart
constexpr int64_t kMostColumns = 32; ///< of a panel whose lanes are terms: more columns are lanes themselves

/// Whether a panel is worth its copy. `apart`: the elements of a row are far from each other in memory;
/// otherwise the rows are. `reuse`: how many times the panel is read.
constexpr bool worthPanel(bool apart, int64_t rows, double reuse, int64_t bytes) {
  constexpr int64_t kRowsApart = 16, kRows = 128;
  constexpr double kReuse = 8;
  return bytes <= kPanelBytes && rows >= (apart ? kRowsApart : kRows) &&
         reuse >= (apart ? kReuseApart : kReuse);
}

/// Whether a panel of an operand that all lanes share, whose elements are copied one by one, is worth it.
constexpr bool servesShared(double reuse, int64_t bytes) {
  constexpr double kReuseOneByOne = 4;
  return reuse >= kReuseOneByOne && bytes <= kPanelBytes;
}
/// Whether a panel would serve a read of the reduction's terms if so many of them had to lie together for each lane.
bool servesGroups(UOp read, UOp reduction, const Target& target, int64_t terms);

/// The kernel with such reads served from panels; unchanged if it has none. Range ids from `nextId` on are
/// free.
UOp packPanels(UOp ast, const Target& target, int64_t nextId);

} // namespace uopscope
