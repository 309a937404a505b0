// The last rewrite of a kernel, before its nodes are put in order: a gated load has the value that it gives where its gate
// is false, a vector is a list of lanes, and each END ends one range. Later stages read such nodes alone.
//
//   WHERE(gate, LOAD(INDEX(b, i, gate)), v)   ->  LOAD(INDEX(b, i, gate), v)
//   END(s, r0, r1)                            ->  END(END(s, r1), r0)
#pragma once
#include "engine/rewrite/matcher.h"

namespace uopscope {

/// Needs TargetContext (engine/codegen/memory.h).
std::span<const RuleDef> finalRules();

} // namespace uopscope
