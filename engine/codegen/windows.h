// Windows: the picture that a convolution reads is copied once with its margins, so that its windows are read
// as vectors.
//
// Windows overlap, so each element is read for several windows and for every filter. Each read is gated by a
// test whether it lies inside the picture, and a gated read cannot be a vector. The copy contains the
// margins, so it makes the test once per element:
//
//   for n: for o: for y: acc += w[o, k] * (0 <= y + k - 1 < H ? x[n, y + k - 1] : 0)
//   for n: { for t: picture[t] = 0 <= t - 1 < H ? x[n, t - 1] : 0;
//            for o: for y: acc += w[o, k] * picture[y + k] }
//
// Any computation on the element alone (an activation, a normalisation) is also done once, by the copy. The
// pass is for targets with large caches and a stack for each thread: processors.
#pragma once
#include "engine/rewrite/matcher.h"

#include <span>

namespace uopscope {

constexpr int64_t kWindowBytes = 3 << 20; ///< all copies of a kernel stay in near caches, and on the stack
constexpr double kWindowReuse = 4;        ///< fewest times that an element is read

/// A rule on SINK; it needs no context.
std::span<const RuleDef> windowRules();

} // namespace uopscope
