// The check that IGNORE_OOB=0 switches on: an index outside of its buffer is an error where that can be
// decided. The bounds of the index under its gate decide most cases. Where they do not, all values of its
// ranges are tried, unless there are too many.
//
//   buffer of 8, index r0 + 1, r0 < 8      Error(Spec): ... is 8 at r0=7
//   the same behind the gate r0 < 7        fine
#pragma once
#include "engine/uop/uop.h"

#include <string_view>

namespace uopscope {

/// Checks every INDEX of the kernel graph. Throws Error(Spec) naming the index, the buffer, a point and the
/// pass.
void checkBounds(UOp sink, std::string_view pass);

} // namespace uopscope
