// Sums along columns: the rows that hold the terms are read whole, one after the other, into accumulators that stay in a cache.
//
// Each result of such a sum takes its terms from another row of memory: x.sum(0), `v @ a`, the gradient of a bias. A tile of registers
// is at most a kilobyte wide, so memory is read in pieces of a kilobyte that lie a row apart: the processor fetches nothing ahead, and
// looks up a page for each piece. Where memory is much larger than the results, accumulators in memory cost less:
//
//   for c: out[c] = sum over k of x[k, c]
//   ->   for c: acc[c] = 0;   for k by 8: for c: acc[c] += x[k, c] + ... + x[k + 7, c];   for c: out[c] = acc[c]
//
// Invariant: each element of memory is read once, before and after. The rules are for targets with few threads.
#pragma once
#include "engine/rewrite/matcher.h"

#include <span>

namespace uopscope {

/// A rule on SINK; it needs a TargetContext.
std::span<const RuleDef> columnSumRules();

} // namespace uopscope
