// Choice of the tile of a reduction that is computed at once: the axis that becomes vector lanes, the number
// of lanes, and further axes (rows), which use each loaded value several times.
//
//   c[i,j] = sum over k of a[i,k] * b[k,j]:   j becomes 16 lanes (b and c are contiguous along j), 4 rows i
//   share the values loaded of b: 4 x 16 results in 8 registers, for 2 loads of vectors and 4 of single
//   values.
//
// A model estimates the cycles per result and term of every choice from counts of loads, operations and
// registers. The cheapest choice wins. Only the order of the choices matters, so the model is coarse.
#pragma once
#include "engine/uop/uop.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace uopscope {

/// Largest number of lanes for which short sums are unrolled: 128, or fewer if registers are narrow.
constexpr int64_t mostWrittenOut(int64_t registerLanes) {
  return registerLanes < 8 ? 16 * registerLanes : 128;
}

/// Most places in memory that one value of a kernel stands for (DType::kMaxPointers): results times terms written out.
constexpr int64_t kMostPlaces = 512;

constexpr double kCached = 200 << 10; ///< elements that a core keeps near itself: of a second cache of 1 MB

/// Most registers, of 16 or 32 vectors, that the results of a tile fill where loads have gates, or lanes are a row's.
constexpr int64_t mostTileRegisters(int64_t registers) {
  return registers < 32 ? 12 : 16;
}
/// The same of a product's tile: a quarter is left for what a step reads. Each load then serves more products, which counts where
/// another thread of the core takes half of the instructions that it begins.
constexpr int64_t mostProductRegisters(int64_t registers) {
  return registers / 4 * 3;
}

/// Registers of accumulators that a sum keeps whose lanes are terms.
constexpr int64_t mostKeptRegisters(int64_t registers) {
  return registers < 32 ? mostProductRegisters(registers) : registers - 4;
}

/// Whether every lane of a sum keeps an accumulator until the end of the loop: `lanes` in all, for `results`
/// results. Otherwise lanes are combined inside the loop.
constexpr bool keepsAccumulators(int64_t lanes, int64_t results, int64_t registerLanes, int64_t registers) {
  constexpr int64_t kFewLanes = 64, kFewResults = 8;
  bool wholeRegisters = registerLanes > 1 && lanes / results % registerLanes == 0; // per result
  return wholeRegisters ? lanes <= mostKeptRegisters(registers) * registerLanes
                        : lanes <= kFewLanes && results < kFewResults;
}

/// An axis of a reduction, with its strides in all reads.
struct TileAxis {
  UOp range;
  int64_t extent = 1;
  bool isTerm = false;          ///< the reduction sums over it
  bool writtenInOrder = false;  ///< results along it are contiguous
  std::vector<int64_t> strides; ///< per read: 0 independent, 1 contiguous, kNotLinear, or a larger stride
  std::vector<bool> gates;      ///< per read: whether its gate depends on the axis
  /// Per read: the loops that have to be known besides the axis for its gate, or its address with divisions, to be known.
  std::vector<std::vector<UOp>> knownWith = {};
  bool oneByOne = false; ///< the axis cannot become lanes
  int64_t together =
      1; ///< terms that an instruction adds to each lane if the axis becomes lanes (dot_products.h)
  /// If tiles do not divide the axis, the last tile may compute results again; of terms, the rest may follow the loop.
  bool mayOverlap = false;
  int64_t wholeRows = 4; ///< a tile that does not divide the axis has a multiple of so many rows of it
  static constexpr int64_t kNotLinear = INT64_MIN; ///< the address uses divisions and remainders
};

struct Tile {
  struct Part {
    UOp range;
    int64_t
        amount; ///< more than the axis has where it is padded (lanes of a few registers that hold all of it)
    bool isTerm;
  };
  std::vector<Part> parts;  ///< the part for the lanes is last
  int64_t lanes = 1;        ///< the number of results and terms of the tile
  bool vectors = false;     ///< the last part is read as vectors
  bool lanesOutside = true; ///< the loop over the lanes belongs outside of the loop over the rows
  double cycles = 0;        ///< per lane and step, by the model
  int64_t together = 1;     ///< terms that the price takes for one step (TileAxis::together)
  struct Other {
    std::string what; ///< "32 lanes of r1, 2 of r0"
    double cycles;
  };
  std::vector<Other> others; ///< the cheapest tiles not chosen, for the explanation of the choice
};

/// What the price of a tile asks of the machine and the kernel.
struct TileMachine {
  size_t reads = 0;
  int64_t registerLanes = 1; ///< values in a vector register
  bool hasMasks = false;     ///< lanes that lie side by side are read at once, whatever their gates
  int64_t sums = 1;          ///< reductions in the loop: each has accumulators of its own
  int64_t threads = 1;       ///< that the kernel is worth, and the machine has
  bool keepsOrder = false;   ///< no loop may go outside of others
  int64_t registers = 16;    ///< vectors that the processor keeps (vectorRegisters)
  bool turnsTerms = true;    ///< a panel may bring terms together (byTerms of panels.cpp)
  bool multiplies = false;   ///< the reduction is a product of floats
};

/// Steps of each thread from which on the last one may repeat some, where threads do not divide them.
constexpr int64_t kOverlapFrom = 8;

/// What is written out for every tile: the steps of strides, of which each result has one in so many of the terms, and the terms of sums
/// that say which.
struct WrittenOut {
  int64_t steps = 1, terms = 1;
};

/// A part divides its axis, or its tiles overlap. `listOthers`: the tiles not chosen are kept.
Tile chooseTile(const std::vector<TileAxis>& axes, const TileMachine& machine, const WrittenOut& written = {},
                bool listOthers = false);
/// The model's price of a given tile, whose last part is the lanes: cycles a lane and step. None for a tile that is no
/// tile of these axes, or that fills more registers than there are.
std::optional<double> priceOfTile(const std::vector<TileAxis>& axes, const TileMachine& machine,
                                  const std::vector<Tile::Part>& parts);

} // namespace uopscope
