// Dot products: instructions of a processor that add 2 or 4 products of small numbers to each lane of a vector of sums. A
// target lists them as tensor cores whose tile has one row, one column and a few terms; the results of a vector each have a
// lane, and OptOps.TC uses them without changing rows or columns.
//
//   vdpbf16ps    float32[16] += bfloat16[16][2] * bfloat16[16][2]
//   vpdpbusd     int32[16]   += uint8[16][4]    * int8[16][4]
//
// A WMMA of this kind has as many lanes as its sum; its operands have 2 or 4 times as many, the terms of a lane side by side.
// Invariant: its operands are what the instruction takes, so a kernel of int8 alone turns the left one into uint8 first.
#pragma once
#include "engine/codegen/target.h"

#include <span>
#include <vector>

namespace uopscope {

/// The cores for a target with these instructions.
std::vector<TensorCore> dotProducts(bool ofBFloat16, bool ofBytes);
bool isDotProduct(const TensorCore& core);
/// Whether a node is a WMMA of this kind.
bool isDotProduct(UOp u);
/// The terms that one such WMMA adds to each lane.
int64_t termsOfDot(UOp wmma);
/// Whether a type is a byte: instructions of bytes take either sign.
inline bool isByte(DType d) {
  return d == dtypes::int8 || d == dtypes::uint8;
}
/// A float32 as the instructions read and write it: numbers below the normal ones are zeros.
float withoutDenormal(float x);
/// c plus the sum of products of one lane, in the precision of the instruction.
ConstValue dotProduct(DType sum, std::span<const ConstValue> a, std::span<const ConstValue> b, ConstValue c);

/// A sum that a dot product can compute a few terms at a time. One operand, `lanes`, depends on results that lie side by side,
/// or, where terms are lanes, is the one that more results share.
struct DotSum {
  const TensorCore* core = nullptr;
  UOp sum, single, lanes; ///< the REDUCE, and the reads of its operands
  UOp term;               ///< the range that is cut into steps
};
/// The small number that an operand widens, or that it widens inside of a margin of zeros; null for other operands.
UOp narrowed(UOp operand);
/// Whether a sum multiplies numbers in memory that a core of the target takes, has terms enough for its steps, and TC is not 0.
bool suitsDotProducts(const Target& target, UOp sum);
/// Every sum of a kernel with each of its ranges that has steps for a core, in order of the cores. Terms of a loop that
/// fill no step are added one by one; those of an unrolled range fill steps, which are lanes.
std::vector<DotSum> dotSums(const Target& target, std::span<const UOp> sums, std::span<const UOp> stores);
/// A sum over the ranges of `sum`, with those of `steps` (no RANGE: a single step) in place of `term`.
UOp summedBySteps(UOp value, UOp sum, UOp term, UOp steps);
/// The sum by dot products. Takes ids of new ranges from `nextId` on.
UOp byDotProducts(const DotSum& dot, int64_t& nextId, const std::string& device);

} // namespace uopscope
