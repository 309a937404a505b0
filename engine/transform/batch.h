// vmap on graphs: the same computation for many arguments at once, with one new first axis in every shape.
//
//   // y of shape (4,) depends on the placeholder p of shape (3,); xs has the shape (100, 3)
//   batch({y}, {{p, xs}}, 100)[0].shape()                 // (100, 4)
//
// There is one rule per operation. Each value is one node before and one node after, so there is no loop and
// no larger graph. A value that depends on no argument keeps its shape until it meets a value that does.
#pragma once
#include "engine/rewrite/matcher.h"

#include <span>

namespace uopscope {

/// The values with a first axis of this length. `arguments` maps each placeholder to its value with that
/// axis.
std::vector<UOp> batch(std::span<const UOp> values, const UOpMap<UOp>& arguments, const Sint& length);
/// The rules, one for each operation.
const PatternMatcher& batchRules();

/// The keys in order of their ids, to begin a pass with.
std::vector<UOp> inOrder(const UOpMap<UOp>& arguments);
/// Nodes that depend on one of the keys, the keys left out, sources first.
std::vector<UOp> dependents(std::span<const UOp> values, const std::function<bool(UOp)>& isKey);

} // namespace uopscope
