// Movement operations as transformations of index expressions: from the position of an element in the result
// to its position in the source.
//
//   PERMUTE(x, (1,0)) at (i, j)      reads x at (j, i)
//   RESHAPE(x (6,4)) to (24) at (i)  reads x at (i/4, i%4)
//   PAD(x, 1 before) at (i)          reads x at WHERE(1 <= i and i < n+1, i-1, Invalid), and is 0 elsewhere
//
// An index may be gated: WHERE(valid, index, Invalid). Every operation keeps the gates. Results that bounds
// decide are folded at once (x % 8 for x < 8 is x); the symbolic rules fold the rest.
#pragma once
#include "engine/uop/sint.h"

#include <span>
#include <vector>

namespace uopscope {

/// The parts of WHERE(valid, index, Invalid); a null `valid` is always true.
struct GatedIndex {
  UOp index, valid;
};
GatedIndex ungate(UOp index);
/// The inverse: the gated index, or the plain index if `valid` is null or true.
UOp gated(UOp index, UOp valid);
/// The conjunction of two conditions, either of which may be null, without repeated clauses.
UOp allOf(UOp a, UOp b);

/// The indices into src(0) for indices into the result of a movement operation. The source must have a shape.
std::vector<UOp> movementIndices(UOp movement, std::span<const UOp> indices);
/// The condition under which an element of a PAD comes from its source; null if that is always true. Gates of
/// `indices` are not included.
UOp padValid(UOp pad, std::span<const UOp> indices);
/// The index into the flat, row-major layout of a shape; its gate is the conjunction of all gates.
UOp flatIndex(std::span<const Sint> shape, std::span<const UOp> indices);

/// A loop for each axis longer than 1, and 0 for the others: where a node's elements are asked for one by one.
std::vector<UOp> loopsOver(const Shape& shape);

} // namespace uopscope
