// Sums that a loop carries from one result to the next, instead of being computed anew for each.
//
// A running sum comes as a sum over everything so far, n * n steps for n results. In a loop over the results one
// step each is enough, since a sum so far is the one before and one more term. Other loops run inside, with an
// accumulator for each of their steps, so that lanes, and not one chain of dependent additions, are what a step
// computes:
//
//   for i: out[i] = sum over k <= i of x[k]      ->   acc = 0;  for i: { acc += x[i];  out[i] = acc }
//
// A sum that takes the terms whose index equals the number of the result (a one-hot product: the gradient of an
// embedding, a histogram) goes through all terms for every result. Going through the terms once adds each to the
// one result it belongs to:
//
//   for v: out[v] = sum over j of (idx[j] == v ? g[j] : 0)
//   ->   for v: out[v] = 0;   for j: if 0 <= idx[j] < n: out[idx[j]] += g[j]
//
// Terms are added in the order in which they were, so numbers are those of the sum. For targets whose threads are
// few: on a GPU the results of such loops would wait for each other.
#pragma once
#include "engine/codegen/target.h"
#include "engine/rewrite/matcher.h"

#include <span>

namespace uopscope {

/// Rules on SINK; they need no context.
std::span<const RuleDef> runningSumRules();

} // namespace uopscope
