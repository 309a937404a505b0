// Values that need no kernel: those equal to a constant, or to an existing value.
//
//   x + 0                   x itself: a copy that shares the memory of x until one of the two is assigned
//   Tensor.ones(4).exp()    a constant; sum, max and prod of a constant too
//   Tensor.stack(a, b)[0]   a: what is taken from one part of a concatenation alone
//
// Tensors are folded once, right before they are realized. An elementwise expression with more than
// kFoldNodes nodes is not folded, so a large graph costs nothing.
#pragma once
#include "engine/tensor/tensor.h"

namespace uopscope {

constexpr size_t kFoldNodes = 64;

/// Makes each of these tensors, with all its names, stand for the constant or value that it folds to.
void foldValues(const std::vector<Tensor>& tensors);

} // namespace uopscope
