// The pass "cut store ranges": a loop that a comparison with a constant splits in cases becomes a loop for each case, before the kernel
// is optimised.
//
//   for r < n: out[r] = r < 3 ? a : b     ->   for r < 3: out[r] = a;   for r < n - 3: out[r + 3] = b
#pragma once
#include "engine/rewrite/matcher.h"

#include <cstdint>
#include <span>

namespace uopscope {

struct CutRangesContext {
  CutRangesContext(int64_t first, int64_t threads) : firstNew(first), nextId(first), threads(threads) {}
  int64_t firstNew, nextId; ///< first id of the ranges made in this run; next free id
  int64_t threads = 1;      ///< that share the pieces of an outermost loop; 1: none
  size_t pieces = 1;        ///< pieces made so far
};
std::span<const RuleDef> cutStoreRangeRules(); ///< needs CutRangesContext

} // namespace uopscope
