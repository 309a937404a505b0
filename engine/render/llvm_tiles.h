// Tile products (tile_cores.h) in LLVM IR, by the intrinsics of x86 for AMX. LLVM keeps a tile in a register of the unit
// where it is a value of the type x86_amx, so what the kernel says in vectors is written as such values:
//
//   16 loads of rows that are `stride` apart, put together    tileloadd64.internal(16, 64, address, stride)
//   a vector of 1,024 bytes                                   cast.vector.to.tile, which LLVM joins with its load
//   a sum behind its loop                                     tilestored64.internal to the stack, and a load of vectors: the
//                                                             sum then stays in its register while the loop runs
//
// Invariant: a node that `isLeftOut` is read by tile products alone, which read its rows from memory themselves.
#pragma once
#include "engine/codegen/codegen.h"
#include "engine/render/llvm_text.h"

#include <optional>
#include <unordered_set>

namespace uopscope {

/// An operand whose rows lie in memory, as far apart as `stride` says.
struct TileRows {
  UOp first;          ///< the LOAD of the first row
  int64_t stride = 0; ///< bytes
};

class LlvmTiles {
public:
  explicit LlvmTiles(const LoweredKernel& kernel);

  std::optional<TileRows> rowsOf(UOp operand) const;
  bool isLeftOut(UOp u) const { return leftOut_.contains(u); }
  /// Whether a LOAD of a sum is used by others than tile products.
  bool isStored(UOp load) const { return sums_.contains(load); }

  /// A tile from rows in memory, and from a vector of this type.
  static std::string load(LlvmText& out, const std::string& address, int64_t stride);
  static std::string fromVector(LlvmText& out, DType type, const std::string& vector);
  /// The vector of this type that a tile holds, by way of `memory`, an array on the stack; or of the tile itself if it is empty.
  static std::string toVector(LlvmText& out, DType type, const std::string& tile, const std::string& memory);
  /// The tile of results of a WMMA. Throws Error(Compile) for one that no instruction computes.
  static std::string product(LlvmText& out, UOp wmma, std::span<const std::string> tiles);

private:
  std::unordered_map<UOp, TileRows, UOpHash> rows_;
  std::unordered_set<UOp, UOpHash> leftOut_, sums_;
};

} // namespace uopscope
