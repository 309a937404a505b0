// Expansion: ranges of type UPCAST and UNROLL stop being loops and become lanes.
//
//   RANGE(4, UPCAST)            ->  UNROLL((0, 1, 2, 3), axes ((id, 4),))
//   ADD(UNROLL(x, A), c)        ->  UNROLL(ADD(x, (c, c, c, c)), A)
//   STORE(INDEX(b, UNROLL(i)), UNROLL(v))  ->  STORE(INDEX(b, i), v)     with vector index and value
//
// An UNROLL names its axes as axis, size, axis, size ... with the last axis fastest; operands with different
// axes are brought to their union in ascending order. After this pass no UPCAST or UNROLL range, no UNROLL
// and no CONTRACT is left, REDUCE may have more lanes coming in than going out (the surplus is reduced
// across), and GROUP_REDUCE ranges have become a reduction into local memory (BUFFERIZE) and one over it.
#pragma once
#include "engine/rewrite/matcher.h"

namespace uopscope {

/// Rules of the expander alone; the pass runs them together with the symbolic rules.
std::span<const RuleDef> expanderRules();
/// Splits a REDUCE over GROUP_REDUCE ranges into two.
std::span<const RuleDef> groupReduceRules();

} // namespace uopscope
