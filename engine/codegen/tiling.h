// How much of a reduction is computed at once: which axis becomes the lanes of vectors, how many of them, and
// which other axes are taken along so that a loaded value is used several times.
//
//   c[i,j] = sum over k of a[i,k] * b[k,j]:   j becomes 16 lanes (b and c lie next to each other along j), 4
//   rows i share the values loaded of b: 4 x 16 results in 8 registers, for 2 loads of vectors and 4 of single
//   values.
//
// Every choice is given the cycles it would take per result and term, from counts of loads, operations and
// registers; the cheapest one wins. What matters is the order of choices, so the model is coarse.
#pragma once
#include "engine/uop/uop.h"

#include <cstdint>
#include <string>
#include <vector>

namespace uopscope {

/// Lanes up to which short sums are written out: at most 128, less where registers are narrow.
constexpr int64_t mostWrittenOut(int64_t registerLanes) {
  return registerLanes < 8 ? 16 * registerLanes : 128;
}

/// Registers that the results of a tile fill at most; more is more code for no more speed. AVX-512 has 32.
constexpr int64_t mostTileRegisters(int64_t registerLanes) {
  return registerLanes < 16 ? 12 : 16;
}

/// Whether every lane of a sum keeps an accumulator until the loop is over: `lanes` in all, for `results` results.
/// Otherwise lanes are joined inside the loop.
constexpr bool keepsAccumulators(int64_t lanes, int64_t results, int64_t registerLanes) {
  constexpr int64_t kFewLanes = 64, kFewResults = 8;
  bool wholeRegisters = registerLanes > 1 && lanes / results % registerLanes == 0; // for each result
  return wholeRegisters ? lanes <= mostTileRegisters(registerLanes) * registerLanes
                        : lanes <= kFewLanes && results < kFewResults;
}

/// An axis as the reads of a reduction see it.
struct TileAxis {
  UOp range;
  int64_t extent = 1;
  bool isTerm = false;         ///< summed over
  bool writtenInOrder = false; ///< results along it lie next to each other
  std::vector<int64_t>
      strides;             ///< of each read: 0 not at all, 1 next to each other, kNotLinear, others: apart
  std::vector<bool> gates; ///< whether each read is gated by it
  bool oneByOne = false;   ///< it cannot become lanes
  bool mayOverlap = false; ///< the last tile may compute results again, where tiles do not divide it
  static constexpr int64_t kNotLinear = INT64_MIN; ///< by division and remainder
};

struct Tile {
  struct Part {
    UOp range;
    int64_t amount;
    bool isTerm;
  };
  std::vector<Part> parts; ///< the lanes last
  int64_t lanes = 1;       ///< in all
  bool vectors = false;    ///< the last part is read as vectors
  double cycles = 0;       ///< of a lane and a step, as the model has it
  struct Other {
    std::string what; ///< "32 lanes of r1, 2 of r0"
    double cycles;
  };
  std::vector<Other> others; ///< the cheapest of the rest, for whoever asks why
};

/// `registerLanes`: values in a vector register. Parts divide their axes, or overlap. `listOthers`: alternatives are
/// kept.
Tile chooseTile(const std::vector<TileAxis>& axes, size_t reads, int64_t registerLanes,
                bool listOthers = false);

} // namespace uopscope
