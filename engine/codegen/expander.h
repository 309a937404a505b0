// Expansion: a range of type UPCAST or UNROLL is no loop any more, and its steps become lanes of vectors.
//
//   RANGE(4, UPCAST)            ->  UNROLL((0, 1, 2, 3), axes ((id, 4),))
//   ADD(UNROLL(x, A), c)        ->  UNROLL(ADD(x, (c, c, c, c)), A)
//   STORE(INDEX(b, UNROLL(i)), UNROLL(v))  ->  STORE(INDEX(b, i), v)     with vector index and value
//
// The argument of an UNROLL lists its axes as axis, size, axis, size ...; the last axis varies fastest.
// Operands with different axes are brought to the union of their axes in ascending order. After this pass no
// range of type UPCAST or UNROLL, no UNROLL and no CONTRACT is left. A REDUCE may then have more lanes in its
// source than in its result: it reduces across the surplus. A reduction over GROUP_REDUCE ranges has become
// two: one into local memory (BUFFERIZE) and one over that memory.
#pragma once
#include "engine/rewrite/matcher.h"

namespace uopscope {

/// The rules of the expander. The pass runs them together with the symbolic rules.
std::span<const RuleDef> expanderRules();
/// Splits a REDUCE over GROUP_REDUCE ranges in two.
std::span<const RuleDef> groupReduceRules();

} // namespace uopscope
