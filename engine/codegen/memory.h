// Memory accesses: "** add loads (code)" makes every read a LOAD, "devectorize" turns accesses of many lanes
// into the few wide ones a target has.
//
//   INDEX(b, (i+0, i+1, i+2, i+3, j))  of 5 lanes  ->  one access of 4 lanes at i, one of 1 lane at j, lanes
//   put back
//
// Lanes are grouped by gate and base, runs of neighbouring offsets are cut into widths the target allows, so
// any number of lanes works, in any order and with repeats.
#pragma once
#include "engine/codegen/target.h"

namespace uopscope {

/// Context of the late passes: the target.
struct TargetContext {
  const Target& target;
};

std::span<const RuleDef> addLoadRules();
/// Needs TargetContext.
std::span<const RuleDef> accessRules();
/// GEP of known lanes, arithmetic on more lanes than the target writes at once. Needs TargetContext.
std::span<const RuleDef> laneRules();
/// Rules for linear programs alone: alternatives of gated loads, plain VECTORIZE and GEP, one range per END.
std::span<const RuleDef> finalRules();

/// Lanes of one operation on values of this type.
int aluLanes(const Target& target, DType d);
/// Lanes of values of this type in one register: half of them where values take eight bytes.
int registerLanes(const Target& target, DType d);
/// Widest access of values of this type.
int accessLanes(const Target& target, DType d, AddrSpace space);

} // namespace uopscope
