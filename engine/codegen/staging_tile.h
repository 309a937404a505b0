// The tile of an operand in shared memory: which elements a group needs for a step, and where each lies.
//
// The position of an element in its tile has digits, one for each loop, or part of a loop, that its address
// depends on. Thread 13 of a warp that reads row 13 / 4 and term 13 % 4 has two digits: {thread, 4, 8} and
// {thread, 1, 4}.
//
//   std::optional<StagedTile> tile = tileOf(read, reduction, threads);   // no value: the read cannot be staged
//   UOp at = placeOf(*tile, valuesOfLoops(*tile));                  // where this thread finds its element
//
// Two orders of elements in shared memory:
//   by use       lanes of a vector, threads, further results, terms; each term 16 bytes longer than necessary
//   by address   as in global memory, so that 16 bytes there are 16 bytes here. Threads that read rows would
//                meet in the banks; so the number of the 16-byte column has bits of the row added to it (XOR),
//                one for each bit of a thread's number that would choose the same banks again.
//   for a core   that reads the tile itself (shared_operand.h): 64 elements that lie side by side in global memory are a row
//                of 128 bytes, then come the other elements of the tile, then the next 64
// Invariant: the places of a tile's elements differ.
#pragma once
#include "engine/codegen/target.h"

#include <optional>
#include <utility>

namespace uopscope {

/// A part of a loop over threads, over results of a thread, or over terms: `loop / divisor % extent`.
struct Digit {
  UOp loop;
  int64_t divisor = 1, extent, stride; ///< stride: elements of global memory
  int64_t inShared = 0;                ///< its stride in shared memory, before bits are exchanged
};

struct StagedTile {
  UOp read;                  ///< INDEX of a global buffer
  std::vector<Digit> digits; ///< sorted by stride, the smallest first
  int64_t size = 1;          ///< elements
  int64_t reuse = 1;         ///< threads of other results, or warps of them, that read the same element
  int64_t vector = 1;        ///< contiguous elements that a thread copies at once
  int64_t step = 0;          ///< elements of a stage of the shared memory
  bool byAddress = false;
  /// Bits of the position: the first is added to the second, which is one of the 16-byte column.
  std::vector<std::pair<int, int>> exchanged;
  bool isForCore = false; ///< a core reads it itself, at the coordinates of PLACEHOLDER ranges
  int64_t lead = 0;       ///< then: bytes from 64 lines to the next 64, where lines lie side by side
  int64_t bytes() const { return step * read.dtype().itemsize(); }
};

/// The tile of a read in the given reduction, for a group of these threads (the fastest first). A kernel of
/// tensor cores has a WARP loop among them and gets its tile by address, or for the core. No value if the read cannot be
/// staged. Of the PLACEHOLDER ranges of a core that reads the tile itself, `terms` are those of terms.
std::optional<StagedTile> tileOf(UOp read, UOp reduction, const std::vector<UOp>& threads,
                                 const std::vector<UOp>& terms = {});

/// The values of the digits for the element that the loops around the read are at; PLACEHOLDER ranges are at 0.
std::vector<UOp> valuesOfLoops(const StagedTile& tile);
/// The values of the digits for an element of the tile by its number in global memory's order.
std::vector<UOp> valuesOfElement(const StagedTile& tile, UOp element);
/// The place in a stage of shared memory for these values of the digits.
UOp placeOf(const StagedTile& tile, const std::vector<UOp>& values);

} // namespace uopscope
