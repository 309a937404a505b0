// IGNORE_OOB=0: indices outside their buffers are errors where that can be decided: by bounds under the gate,
// and for loops of not too many steps by trying all of them.
//
//   buffer of 8, index r0 + 1, r0 < 8      Error(Spec): ... is 8 at r0=7
//   the same behind the gate r0 < 7        fine
#pragma once
#include "engine/uop/uop.h"

#include <string_view>

namespace uopscope {

/// Every INDEX of the kernel graph; throws Error(Spec) naming index, buffer, a point, and the pass.
void checkBounds(UOp sink, std::string_view pass);

} // namespace uopscope
