// Values that need no kernel: those that come to a constant, or to another value unchanged.
//
//   x + 0                 x itself, from then on a copy that shares x's memory until one of the two is
//   assigned Tensor.ones(4).exp()  a constant; sum, max and prod of a constant too
//
// Asked for the tensors that are about to be realized, once for each. Only an expression of elementwise
// operations up to kFoldNodes nodes is looked at, so that a large graph pays nothing.
#pragma once
#include "engine/tensor/tensor.h"

namespace uopscope {

constexpr size_t kFoldNodes = 64;

/// Lets each of these tensors, and its other names, stand for the constant or the value that it comes to.
void foldValues(const std::vector<Tensor>& tensors);

} // namespace uopscope
