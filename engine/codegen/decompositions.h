// The pass "decompositions". It replaces operations that the target lacks by those it has. It also puts
// operations of machines (shifts, subtraction, multiply-add, division) in place of the few operations that
// earlier passes work with.
//
//   x // 8    of x >= 0                ->  x >> 3
//   x // 3    of 0 <= x < 1000         ->  (x * 683) >> 11
//   x + y*-1                           ->  x - y
//   THREEFRY(counter, key)             ->  20 rounds of 32-bit arithmetic
#pragma once
#include "engine/codegen/target.h"

namespace uopscope {

std::span<const RuleDef> decompositionRules(); ///< needs TargetContext
/// EXP2, LOG2, SIN, POW and SQRT by arithmetic, if the target lacks them or TRANSCENDENTAL=2 asks for it.
/// Needs TargetContext.
std::span<const RuleDef> transcendentalRules();
/// Functions together with what is computed of them, for the way down: EXP2(x) - 1, 1 - EXP2(x) and 1 - 2 SIN(x/2)^2. On the way up the
/// power, or the sine, would be computed first. Needs TargetContext. Powers on all targets: the difference of a native one has lost the
/// places of a small x as well.
std::span<const RuleDef> jointFunctionRules();
/// Small floats that the target does not support: memory holds their bits, arithmetic is in float32. Needs
/// TargetContext.
std::span<const RuleDef> dtypeEmulationRules();

/// Whether the target has `op` as an operation of its own.
bool isNative(const Target& target, Op op);
bool isSupported(const Target& target, DType d);

} // namespace uopscope
