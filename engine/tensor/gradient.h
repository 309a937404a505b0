// Gradients of graphs, and derivatives given by hand: of kernels, and of any value that is marked.
//
//   UOpMap<UOp> g = gradientsOf(loss, one, {w});      // g.at(w)
//
// A marked value is DETACH(value, inputs..., UNIQUE): the value itself, whose derivatives by the inputs come
// from the functions kept under the UNIQUE.
#pragma once
#include "engine/rewrite/matcher.h"

#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace uopscope {

/// The gradient of `root`, times `seed`, for every node between the targets and the root.
UOpMap<UOp> gradientsOf(UOp root, UOp seed, const std::vector<UOp>& targets);
/// The sum of the gradients of several roots, each times its seed; the scope and the pass have this name.
UOpMap<UOp> gradientsOf(const std::vector<std::pair<UOp, UOp>>& seeded, const std::vector<UOp>& targets,
                        const char* name);
/// The rules, one for each operation.
const PatternMatcher& gradientRules();
/// For each element the product of all others along the axes, zeros among them or not: the slope of a
/// product.
UOp productOfOthers(UOp x, const std::vector<int64_t>& axes);
/// The slope of a sine, as right for large arguments as the sine is.
UOp cosine(UOp x);

struct CustomDerivative {
  /// One gradient per input (null: none) from the gradient of the value.
  std::function<std::vector<UOp>(UOp grad, UOp node)> reverse;
  /// The tangent of the value (null: zero) from one tangent per input (null: zero).
  std::function<UOp(const std::vector<UOp>& tangents, UOp node)> forward;
};
/// The value, marked: its derivatives by the inputs are those kept under `key`, a UNIQUE.
UOp withDerivative(UOp value, std::span<const UOp> inputs, UOp key);
/// Of a marked value or a CUSTOM_KERNEL; null where there is none.
const CustomDerivative* derivativeOf(UOp u);
/// `key` is a CUSTOM_KERNEL (its inputs are its buffers) or the UNIQUE of marked values. Forgotten when it
/// dies.
void setCustomDerivative(UOp key, CustomDerivative derivative);
/// Forgets derivatives whose keys are not alive.
void dropCustomDerivatives(const std::function<bool(uint32_t id)>& alive);

} // namespace uopscope
