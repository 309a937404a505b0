// Gradients of graphs, and of kernels written by hand.
//
//   UOpMap<UOp> g = gradientsOf(loss, one, {w});      // g.at(w)
#pragma once
#include "engine/uop/uop.h"

#include <functional>
#include <vector>

namespace uopscope {

/// The gradient of `root`, times `seed`, for every node between the targets and the root.
UOpMap<UOp> gradientsOf(UOp root, UOp seed, const std::vector<UOp>& targets);

/// Answers one gradient per buffer of a CUSTOM_KERNEL (null: none), from the gradient of what it computes.
using CustomGradient = std::function<std::vector<UOp>(UOp grad, UOp kernel)>;
/// Gives a CUSTOM_KERNEL its gradient; forgotten when the node dies.
void setCustomGradient(UOp kernel, CustomGradient gradient);
/// Forgets the gradients of kernels whose ids are not alive.
void dropCustomGradients(const std::function<bool(uint32_t id)>& alive);

} // namespace uopscope
