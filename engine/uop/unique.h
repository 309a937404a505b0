// Nodes that equal no earlier node of their pool, for memory above all. Their numbers come from the pool's
// own ids, so the same script numbers its buffers alike on every run, and two makers of buffers never
// collide.
//
//   UOp a = newBuffer("CPU", dtypes::float32, 12), b = newBuffer("CPU", dtypes::float32, 12);   // a != b
#pragma once
#include "engine/uop/uop.h"

#include <string_view>

namespace uopscope {

/// A UNIQUE of the current pool that no other UNIQUE equals.
UOp newUnique();
/// The DEVICE node of a canonical name ("CPU", "CPU:1").
UOp deviceNode(std::string_view name);
/// A new BUFFER in the current pool; its shape is (size,).
UOp newBuffer(std::string_view device, DType dtype, int64_t size);

} // namespace uopscope
