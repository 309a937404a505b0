// Scattered sums: each term belongs to the one result that its index names, as in the gradient of an embedding or a histogram. Such
// a sum arrives as a loop over all terms for every result. A single loop over the terms is enough:
//
//   for v: out[v] = sum over j of (idx[j] == v ? g[j] : 0)
//   ->   for v: out[v] = 0;   for j: if 0 <= idx[j] < n: out[idx[j]] += g[j]
//
// Elements that are set by a list of numbers arrive in the same way: the last entry that names an element is a maximum of entries.
//
//   for v: last = max over j of (idx[j] == v ? j + 1 : 0);   out[v] = last != 0 ? values[last - 1] : x[v]
//   ->   for v: out[v] = x[v];   for j: if 0 <= idx[j] < n: out[idx[j]] = values[j]
//
// Several indices may place a term, each in the loop that it is compared with: together they are its place. Where results are many and
// terms few (x[i, j] of a large x), each thread has a part of the results, looks at all terms, and takes its own.
//
// Terms are taken in their original order, so the results keep their bits. These rules are for targets with
// few threads: on a GPU the iterations of such loops would wait for each other.
#pragma once
#include "engine/rewrite/matcher.h"

#include <span>

namespace uopscope {

/// Rules on SINK; they need no context.
std::span<const RuleDef> scatteredSumRules();

} // namespace uopscope
