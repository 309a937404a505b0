// Running sums: a loop carries a sum from one result to the next, instead of computing it anew for each
// result.
//
// A running sum arrives as a sum over all terms up to each result, which takes n * n steps for n results. One
// step for each result is enough, since each sum is the previous one plus one term. The remaining loops of
// the kernel run inside that loop, with an accumulator for each of their steps. A step of the outer loop then
// updates many lanes, and not one chain of dependent additions:
//
//   for i: out[i] = sum over k <= i of x[k]      ->   acc = 0;  for i: { acc += x[i];  out[i] = acc }
//
// The gradient of a running sum adds from each result to the end. Its loop goes from the last result to the first. A sum
// may be a triangle of a square (k <= i, as above) or windows of a padded value (x[i + k]).
//
// Terms are added in their original order, so the results keep their bits. These rules are for targets with
// few threads: on a GPU the iterations of such loops would wait for each other.
#pragma once
#include "engine/codegen/target.h"
#include "engine/rewrite/matcher.h"

#include <span>

namespace uopscope {

/// Rules on SINK; they need no context.
std::span<const RuleDef> runningSumRules();

} // namespace uopscope
