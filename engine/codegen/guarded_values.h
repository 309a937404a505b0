// Values that a WHERE seldom takes are computed only where it takes them.
//
//   sine of eight floats, by two ways: one for |x| < 1000, one of four times the work for all others
//     small ? near(x) : far(small ? 1000 : x)             both are computed for every vector
//     r = near(x); repeat any(not small) times: r = small ? r : far(x)
//
// A value is guarded if the same condition that leaves it out also puts a constant in place of all that it is computed from.
// Whoever writes that has no use for the value there, and means the case to be rare.
//
// The block is a loop of no or one step, whose extent the condition is: loops are the control flow that every later pass, each
// renderer and the interpreter know.
//
// Invariant: the kernel's results are the same, bit by bit.
#pragma once
#include "engine/codegen/target.h"

#include <span>
#include <string_view>

namespace uopscope {

std::span<const RuleDef> guardedValueRules();

/// Runs the rules as a pass of that name where guarded values are worth a branch; else no pass is begun. The index types are
/// lowered already.
UOp skipGuardedValues(UOp sink, const Target& target, const PatternMatcher& rules, std::string_view pass);

} // namespace uopscope
