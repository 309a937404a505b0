// Reductions of a kernel that read the same memory in the same order: they share one loop, which loads each number once.
//
//   x.sum(1) + x.max(1)    two loops over a row, of which one alone gets tiles  ->  one loop with two accumulators
//
// Invariant: no reduction waits for the result of another one in its own loop. Reductions join only if equally many reductions
// lie below both, so no chain of them leads from a loop back into it.
#pragma once
#include "engine/codegen/target.h"
#include "engine/rewrite/matcher.h"

namespace uopscope {

/// The kernel with shared loops. `pass` is the name of the rewrite that tells each of them.
UOp joinSums(UOp sink, const Target& target, std::string_view pass);
/// The rule by which it does.
const PatternMatcher& joinedSumRules();

} // namespace uopscope
