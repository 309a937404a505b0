// Estimates of the cost of a kernel, read off its linear program: arithmetic operations, bytes moved, and
// bytes of the buffers accessed.
#pragma once
#include "engine/codegen/codegen.h"

namespace uopscope {

Estimates estimate(std::span<const UOp> program);

} // namespace uopscope
