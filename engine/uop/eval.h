// Operations evaluated on constants with exactly the result a kernel would compute: integers wrap to their
// width, division truncates, floats round to their type.
//
//   evalAlu(Op::IDIV, dtypes::int32, dtypes::int32, {ConstValue::ofInt(-7), ConstValue::ofInt(2)}) is -3
//
// Cases that C leaves undefined have a result here. Division and remainder by zero give 0. A shift by the
// width or more gives 0 (or the sign). A float that no integer of the type holds is truncated to 64 bits
// (saturating; NaN becomes 0) and then wrapped. An Invalid operand gives Invalid, except in the branch a
// WHERE does not take.
#pragma once
#include "engine/uop/uop.h"

#include <span>

namespace uopscope {

/// `operand` is the type of the first operand (for WHERE: of the second). Lanes of both types are ignored.
/// Throws Error(Unsupported) for an operation that does not compute a value from values.
ConstValue evalAlu(Op op, DType result, DType operand, std::span<const ConstValue> operands);
inline ConstValue evalAlu(Op op, DType result, DType operand, std::initializer_list<ConstValue> operands) {
  return evalAlu(op, result, operand, std::span<const ConstValue>(operands.begin(), operands.size()));
}
/// A value converted to a constant of the type: wrapped or rounded, and of the type's kind.
ConstValue convertConst(DType type, ConstValue value);
/// A constant as people write it: 0.1, where float32 holds 0.10000000149011612. Of float32 alone, and of numbers with up to six
/// digits: one that was computed has more, and stays as it is.
ConstValue asWritten(DType type, ConstValue value);
/// The constant that an operation, CAST or BITCAST makes of constants, computed per lane for vectors. Null if
/// an operand is no number (Invalid counts as a number of type index), or if a BITCAST changes the size.
UOp evalConstants(Op op, DType result, std::span<const UOp> operands);
/// Random bits from a counter and a key, by the 20-round Threefry-2x32.
uint64_t threefry2x32(uint64_t counter, uint64_t key);
/// Whether every value of `from` is a value of `to`.
bool losslessCast(DType from, DType to);

} // namespace uopscope
