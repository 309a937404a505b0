// Tiles: a unit of a processor (AMX) that multiplies matrices in registers of their own. A register holds 16 rows of 64
// bytes. A target lists its instructions as tensor cores of one thread, and OptOps.TC uses them.
//
//   tdpbf16ps    float32[16][16] += bfloat16[16][32] * bfloat16[32][16]
//   tdpfp16ps    float32[16][16] += float16[16][32]  * float16[32][16]
//   tdpbssd      int32[16][16]   += int8[16][64]     * int8[64][16], and three more for the signs of both operands
//
// The left operand lies row by row. Of the right one, the terms that fill 4 bytes lie together: element (term, column) is at
// term / 4 * 64 + column * 4 + term % 4 for bytes. The results lie row by row.
//
// byTiles makes a WMMA of the elements at the coordinates of PLACEHOLDER ranges. packTiles, after the other Opts, copies them to
// panels where 1,024 bytes are a tile, or reads rows of a left operand where they lie.
// Invariant: only packTiles reads the PLACEHOLDER ranges; none is left behind it.
//
// From Intel's "Architecture Instruction Set Extensions Programming Reference", chapter "Intel AMX Instruction Set Reference".
#pragma once
#include "engine/codegen/target.h"

#include <span>
#include <string>
#include <unordered_set>
#include <vector>

namespace uopscope {

struct TensorCoreProduct;

constexpr int64_t kTileBytes = 1024, kTileLines = 16; ///< of a register; its rows

/// The cores for a target with these instructions.
std::vector<TensorCore> tileCores(bool ofBFloat16, bool ofHalf, bool ofBytes);
bool isTileCore(const TensorCore& core);
/// Whether a node is a WMMA of this kind.
bool isTileProduct(UOp u);
/// Whether the core multiplies values of this type: bytes of either sign go together.
bool takesOperand(const TensorCore& core, DType type);
/// Where an element of the right operand lies in its tile.
int64_t placeInRightTile(int64_t term, int64_t column, int64_t itemsize);
/// The results of one such WMMA, in the precision of the instruction: floats add up even and odd terms apart, each rounded once,
/// then both, then the sum so far; numbers below the normal ones of float32 count as zero. Integers wrap.
std::vector<ConstValue> tileProduct(DType sum, int64_t terms, std::span<const ConstValue> a,
                                    std::span<const ConstValue> b, std::span<const ConstValue> c);

/// A product by tiles: the sum, and what its row and column become.
struct ByTiles {
  UOp sum, row, column;
};
/// Takes ids of new ranges from `nextId` on.
ByTiles byTiles(const TensorCore& core, const TensorCoreProduct& product, int64_t& nextId,
                const std::string& device);
/// Whether a read can be a left operand where it lies: the terms of a row side by side.
bool liesInRows(UOp read, UOp row, UOp term);
/// The DEFINE_REGs that tile products read and add to.
std::unordered_set<UOp, UOpHash> tileMemoryOf(UOp sink);
/// The kernel with operands of tile products in panels, or read in place. Range ids from `nextId` on are free.
UOp packTiles(UOp ast, int64_t nextId);

} // namespace uopscope
