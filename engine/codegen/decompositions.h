// decompositions: operations a target lacks, in terms of those it has; and the operations of machines
// (shifts, subtraction, multiply-add, division) in place of the few the rest of the compiler works with.
//
//   x // 8    of x >= 0                ->  x >> 3
//   x // 3    of 0 <= x < 1000         ->  (x * 683) >> 11
//   x + y*-1                           ->  x - y
//   THREEFRY(counter, key)             ->  20 rounds of 32-bit arithmetic
#pragma once
#include "engine/codegen/target.h"

namespace uopscope {

std::span<const RuleDef> decompositionRules(); ///< needs TargetContext
/// EXP2, LOG2, SIN, POW and SQRT by arithmetic, where the target lacks them or TRANSCENDENTAL=2 asks. Needs
/// TargetContext.
std::span<const RuleDef> transcendentalRules();
/// Small floats the target does not support: stored as bits, computed with as float32. Needs TargetContext.
std::span<const RuleDef> dtypeEmulationRules();

/// Whether the target does `op` itself.
bool isNative(const Target& target, Op op);
bool isSupported(const Target& target, DType d);

} // namespace uopscope
