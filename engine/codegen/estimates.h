// Estimates of the cost of a kernel, read off its linear program: arithmetic, bytes moved, bytes of the
// buffers touched.
#pragma once
#include "engine/codegen/codegen.h"

namespace uopscope {

Estimates estimate(std::span<const UOp> program);

} // namespace uopscope
