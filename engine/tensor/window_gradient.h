// The gradient of a convolution for its input, as a convolution. Windows repeat the elements of their source (an EXPAND), so the
// gradient of the source is a sum over the windows that hold an element. Its terms are sums of products themselves, over
// the filters. Written one after the other, the inner sums have to be stored, one for each element of each window. Both sums are one:
//
//   y[o, p] = sum over c, k of x[c, p + k] * w[o, c, k]
//   dx[c, q] = sum over o, k of w[o, c, k] * dy[o, q - k]
//
// That is what a convolution of dy, with a margin, and of the turned filter computes. With a stride s the positions q = s * i + r of each r
// meet every s-th element of the filter: r is an axis of the result.
//
// What is a window is read off indices: an axis of the source is read at place * stride + step * dilation, where the gradient of the
// product does not depend on the step, and the other factor not on the place.
#pragma once
#include "engine/uop/uop.h"

#include <vector>

namespace uopscope {

/// The users of each movement operation in a graph.
using MovementUsers = UOpMap<std::vector<UOp>>;

/// The gradient of src(0) of an EXPAND, or of the PAD that it repeats, from those of the products that read the repeated elements
/// through movement operations. Null, and the reason in `why`, if these are no windows or if the sums one after the other are
/// cheaper.
UOp gradientThroughWindows(UOp u, const MovementUsers& users, const UOpMap<UOp>& gradients, const char*& why);

} // namespace uopscope
