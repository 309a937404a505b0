// Functions of floats that a processor computes in one instruction, and for which the graph has no operation. A node of one is a
// CUSTOMI whose text is its name and its operands, so it reads like any expression of a target.
//
//   exponent({0})      vgetexpps    the whole n with 2^n <= |x| < 2^(n+1), as a float
//   mantissa({0})      vgetmantps   x * 2^n in [3/4, 3/2); NaN of numbers below zero
//   scaled({0}, {1})   vscalefps    x * 2^n, rounded once
//
// Series of logarithms and powers need neither integers nor cases for subnormal numbers where these are (logarithm.h, exponential.h).
//
// Invariant: renderers and the interpreter know each function for vectors that fill a half or a quarter of a register, or 1, 2, 4 ... of
// them.
#pragma once
#include "engine/codegen/target.h"

#include <optional>
#include <span>

namespace uopscope {

enum class MachineFunction : uint8_t { Exponent, Mantissa, Scaled };

/// Whether the target has the functions for values of this type, of as many lanes.
bool hasMachineFunctions(const Target& target, DType type);
/// The function of these operands, all of one type.
UOp machineCall(MachineFunction f, std::span<const UOp> operands);
/// The function that a node calls; none for other nodes, among them CUSTOMI of any other text, type or number of operands: a script or a
/// file may have made one.
std::optional<MachineFunction> machineFunctionOf(UOp u);
/// The widest vector of one instruction, in bytes.
constexpr int kMachineVector = 64;
/// x86's name for it, as in vgetexpps: "getexp".
const char* instructionName(MachineFunction f);
/// What says how `mantissa` gives a sign and an interval: NaN below zero, [3/4, 3/2).
constexpr int kMantissaForm = 11;
/// Its value; `operands` are floats of the type.
ConstValue evalMachineFunction(MachineFunction f, DType type, std::span<const ConstValue> operands);

} // namespace uopscope
