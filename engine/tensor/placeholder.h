// Placeholders: a transform (vmap, jvp ...) hands them to a function in place of its arguments. A placeholder
// has a shape and no values: the function's graph is built over it once, and the transform writes it anew.
//
//   UOp p = newPlaceholder({3}, dtypes::float32, "CPU");    // a BUFFER with the tag "placeholder"
//   UOp y = f(p);                                           // y depends on p as it would on an argument
//
// Invariant: no placeholder is ever computed with. Whoever schedules a graph asks refusePlaceholders() first.
#pragma once
#include "engine/uop/uop.h"

#include <span>
#include <string>

namespace uopscope {

/// A BUFFER of as many elements as the shape has (its shape is flat), unlike any other.
UOp newPlaceholder(const Shape& shape, DType dtype, const std::string& device);
bool isPlaceholder(UOp u);
/// Whether a value waits for an argument: it has no contents, and none to lose.
bool dependsOnPlaceholder(UOp u);
/// Throws an error in plain words if one of these depends on a placeholder.
void refusePlaceholders(std::span<const UOp> roots);

} // namespace uopscope
