// Windows: what the windows of a convolution read is put side by side once, margins included.
//
// Windows overlap, so each element is read for several of them, and for every filter; each read asks whether it is
// inside the picture, and a question keeps it from being read as a vector. A copy of the picture with its margin
// answers once an element:
//
//   for n: for o: for y: acc += w[o, k] * (0 <= y + k - 1 < H ? x[n, y + k - 1] : 0)
//   for n: { for t: picture[t] = 0 <= t - 1 < H ? x[n, t - 1] : 0;   for o: for y: acc += w[o, k] * picture[y + k] }
//
// Whatever else is computed from the element alone (an activation, a normalisation) is computed once, too. For
// targets whose caches are large and whose threads have a stack: processors.
#pragma once
#include "engine/rewrite/matcher.h"

#include <span>

namespace uopscope {

constexpr int64_t kWindowBytes = 1 << 20; ///< a copy stays in the second cache, and on the stack
constexpr double kWindowReuse = 8;        ///< fewest times that an element is read

/// A rule on SINK; it needs no context.
std::span<const RuleDef> windowRules();

} // namespace uopscope
