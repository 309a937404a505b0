// Sums that a softmax weights, as in attention, in one loop over the keys.
//
// Such sums arrive as one expression, in which every weight needs the largest score of its row first (softmax_sums.h). One loop
// carries the largest score so far: where a block of keys has a larger one, what was summed before is scaled down to it.
//
//   for each block of rows:
//     m = -inf;  l = 0;  acc[c] = 0
//     for each block of keys:
//       s[k] = score of k;   before = m;   m = max(m, max s);   scale = weight(before, m)
//       s[k] = weight(s[k], m);   l = l * scale + sum s;   acc[c] = acc[c] * scale + sum over k of s[k] * v[k, c]
//     out[c] = acc[c] / l
//
// The memory is that of a block of scores, whatever the number of keys. Blocks of keys that a mask hides from all rows of a block
// are skipped. Rows lie side by side in all memory of the kernel, so each step is one of whole vectors.
#pragma once
#include "engine/codegen/target.h"
#include "engine/rewrite/matcher.h"

#include <span>

namespace uopscope {

/// The rule on SINK, for targets without groups; needs TargetContext.
std::span<const RuleDef> streamRules();

} // namespace uopscope
