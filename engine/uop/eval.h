// Operations evaluated on constants exactly as a kernel would compute them: integers wrap to their width,
// division truncates, floats round to their type.
//
//   evalAlu(Op::IDIV, dtypes::int32, dtypes::int32, {ConstValue::ofInt(-7), ConstValue::ofInt(2)}) is -3
//
// Defined where C leaves things open: division and remainder by zero give 0, a shift by the width or more
// shifts everything out, a float that no integer of the type holds is truncated to 64 bits (saturating, NaN
// is 0) and wrapped. Invalid operands give Invalid, but for the branch of a WHERE that is not taken.
#pragma once
#include "engine/uop/uop.h"

#include <span>

namespace uopscope {

/// `operand` is the type of the first operand (of the second for WHERE); the lanes of both types are ignored.
/// Throws Error(Unsupported) for operations that do not compute on values.
ConstValue evalAlu(Op op, DType result, DType operand, std::span<const ConstValue> operands);
inline ConstValue evalAlu(Op op, DType result, DType operand, std::initializer_list<ConstValue> operands) {
  return evalAlu(op, result, operand, std::span<const ConstValue>(operands.begin(), operands.size()));
}
/// A value as a constant of the type: wrapped or rounded, of the type's kind.
ConstValue convertConst(DType type, ConstValue value);
/// The constant that an operation, CAST or BITCAST makes of constants, lane by lane where they have lanes. Null
/// where an operand is no number (Invalid is one of type index), or a BITCAST changes the size.
UOp evalConstants(Op op, DType result, std::span<const UOp> operands);
/// Random bits from a counter and a key: the 20-round Threefry-2x32.
uint64_t threefry2x32(uint64_t counter, uint64_t key);
/// Whether every value of `from` is a value of `to`.
bool losslessCast(DType from, DType to);

} // namespace uopscope
