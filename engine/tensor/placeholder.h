// Placeholders: a transform (vmap, jvp ...) passes them to a function instead of arguments. A placeholder has
// a shape and no values. The graph of the function is built over placeholders once, and the transform
// rewrites it.
//
//   UOp p = newPlaceholder({3}, dtypes::float32, "CPU");    // a BUFFER with the tag "placeholder"
//   UOp y = f(p);                                           // y depends on p as it would on an argument
//
// Invariant: no placeholder is ever computed. Code that schedules a graph calls refusePlaceholders() first.
#pragma once
#include "engine/uop/uop.h"

#include <span>
#include <string>

namespace uopscope {

/// A BUFFER with as many elements as the shape has (its own shape is flat), different from every other
/// BUFFER.
UOp newPlaceholder(const Shape& shape, DType dtype, const std::string& device);
bool isPlaceholder(UOp u);
/// Whether a value depends on a placeholder; it then has no contents.
bool dependsOnPlaceholder(UOp u);
/// Throws a readable error if one of these depends on a placeholder.
void refusePlaceholders(std::span<const UOp> roots);

} // namespace uopscope
