// Gradients of graphs, and custom derivatives of kernels and of marked values.
//
//   UOpMap<UOp> g = gradientsOf(loss, one, {w});      // g.at(w)
//
// A marked value is DETACH(value, inputs..., UNIQUE): the value itself, with the functions registered under
// the UNIQUE as its derivatives with respect to the inputs.
#pragma once
#include "engine/rewrite/matcher.h"

#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace uopscope {

/// The gradient of `root`, times `seed`, for every node between the targets and the root.
UOpMap<UOp> gradientsOf(UOp root, UOp seed, const std::vector<UOp>& targets);
/// The sum of the gradients of several roots, each times its seed. The scope and the pass have this name.
UOpMap<UOp> gradientsOf(const std::vector<std::pair<UOp, UOp>>& seeded, const std::vector<UOp>& targets,
                        const char* name);
/// The rules, one for each operation.
const PatternMatcher& gradientRules();
/// For each element, the product of all remaining elements along the axes, also if some of them are zero: the
/// slope of a product.
UOp productOfOthers(UOp x, const std::vector<int64_t>& axes);
/// The slope of a sine, which is as exact for large arguments as the sine.
UOp cosine(UOp x);

struct CustomDerivative {
  /// Gives one gradient per input (null: none) for the gradient of the value.
  std::function<std::vector<UOp>(UOp grad, UOp node)> reverse;
  /// Gives the tangent of the value (null: zero) for one tangent per input (null: zero).
  std::function<UOp(const std::vector<UOp>& tangents, UOp node)> forward;
};
/// Marks the value: its derivatives with respect to the inputs are those registered under `key`, a UNIQUE.
UOp withDerivative(UOp value, std::span<const UOp> inputs, UOp key);
/// The derivatives of a marked value or of a CUSTOM_KERNEL; null if there are none.
const CustomDerivative* derivativeOf(UOp u);
/// Registers derivatives under `key`: a CUSTOM_KERNEL, whose inputs are its buffers, or the UNIQUE of marked
/// values. They are dropped when the key dies.
void setCustomDerivative(UOp key, CustomDerivative derivative);
/// Drops derivatives whose keys are not alive.
void dropCustomDerivatives(const std::function<bool(uint32_t id)>& alive);

} // namespace uopscope
