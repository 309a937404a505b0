// Movement operations as transformations of index expressions: given where an element stands in the result,
// where does it stand in the source?
//
//   PERMUTE(x, (1,0)) at (i, j)      reads x at (j, i)
//   RESHAPE(x (6,4)) to (24) at (i)  reads x at (i/4, i%4)
//   PAD(x, 1 before) at (i)          reads x at WHERE(1 <= i and i < n+1, i-1, Invalid), and is 0 elsewhere
//
// An index may be gated: WHERE(valid, index, Invalid). Gates pass through all operations. Results are folded
// where bounds decide it at once (x % 8 of x < 8 is x); the symbolic rules do the rest.
#pragma once
#include "engine/uop/sint.h"

#include <span>
#include <vector>

namespace uopscope {

/// WHERE(valid, index, Invalid) taken apart; a null `valid` means always.
struct GatedIndex {
  UOp index, valid;
};
GatedIndex ungate(UOp index);
/// The inverse: just the index where `valid` is null or true.
UOp gated(UOp index, UOp valid);
/// Conjunction of two conditions either of which may be null; nothing is repeated.
UOp allOf(UOp a, UOp b);

/// Index expressions of src(0) for those of the movement operation's result. The source must have a shape.
std::vector<UOp> movementIndices(UOp movement, std::span<const UOp> indices);
/// Of a PAD: where the result comes from the source; null where that is everywhere. Gates of `indices` are
/// not included.
UOp padValid(UOp pad, std::span<const UOp> indices);
/// One index into the flat, row-major layout of a shape; its gate is that of all indices.
UOp flatIndex(std::span<const Sint> shape, std::span<const UOp> indices);

} // namespace uopscope
