// jvp on graphs: forward derivatives, one rule per operation.
//
//   // y = x * x over the placeholder p; t is the tangent of p
//   tangents({y}, {{p, t}})[0]                    // t * x + x * t
//
// A null result means that the tangent is zero for every argument: the value is constant except for jumps.
#pragma once
#include "engine/rewrite/matcher.h"

#include <span>

namespace uopscope {

/// The tangents of the values, null for zero. `arguments` maps each placeholder to its tangent.
std::vector<UOp> tangents(std::span<const UOp> values, const UOpMap<UOp>& arguments);
/// The rules, one for each operation.
const PatternMatcher& tangentRules();

} // namespace uopscope
