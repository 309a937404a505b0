// Memory accesses. The pass "** add loads (code)" makes every read a LOAD. The pass "devectorize" turns an
// access of many lanes into the few wide accesses that the target has.
//
//   INDEX(b, (i+0, i+1, i+2, i+3, j))  of 5 lanes  ->  one access of 4 lanes at i, one of 1 lane at j, and
//   the lanes in their order again
//
// Lanes are grouped by gate and base, and runs of consecutive offsets are cut into widths that the target
// allows. Any number of lanes is possible, in any order and with repeats.
#pragma once
#include "engine/codegen/target.h"

#include <unordered_set>

namespace uopscope {

/// Context of the late passes: the target.
struct TargetContext {
  const Target& target;
  std::unordered_set<UOp, UOpHash> tileMemory =
      {}; ///< the DEFINE_REGs that tile products read and add to, a tile at a time (tile_cores.h)
};

std::span<const RuleDef> addLoadRules();
/// Needs TargetContext.
std::span<const RuleDef> accessRules();

/// Whether vectors of the elements behind a pointer are loaded under a mask: lanes whose gate does not hold read nothing and are 0.
bool hasMasks(const Target& target, DType pointer);

/// The lanes that one arithmetic operation on values of this type has.
int aluLanes(const Target& target, DType d);
/// The lanes of this type that one register holds: half as many for values of eight bytes.
int registerLanes(const Target& target, DType d);
/// Vector registers of a processor: 32 where they have 16 lanes of float32 (AVX-512), else 16.
int64_t vectorRegisters(const Target& target);
/// The lanes of the widest access to values of this type.
int accessLanes(const Target& target, DType d, AddrSpace space);

} // namespace uopscope
