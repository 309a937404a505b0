// Nodes that differ from every other one of their pool: memory, above all. Numbers come from the pool's own
// ids, so the same script numbers its buffers alike on every run, and no two makers of buffers can collide.
//
//   UOp a = newBuffer("CPU", dtypes::float32, 12), b = newBuffer("CPU", dtypes::float32, 12);   // a != b
#pragma once
#include "engine/uop/uop.h"

#include <string_view>

namespace uopscope {

/// A UNIQUE of the current pool that no other UNIQUE equals.
UOp newUnique();
/// DEVICE of a canonical name ("CPU", "CPU:1").
UOp deviceNode(std::string_view name);
/// A BUFFER of its own in the current pool; its shape is (size,).
UOp newBuffer(std::string_view device, DType dtype, int64_t size);

} // namespace uopscope
