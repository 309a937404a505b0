// Values that a kernel stores for itself: BUFFERIZE in registers, as the schedule makes it with PCONTIG=2.
//
// Each step of the loops around fills the memory once, before the loops that read it begin. Lanes of the loops around
// have elements of their own, which lie side by side.
//
//   for i: for j: out[i, j] = sum(INDEX(BUFFERIZE(v(i, t), t), k) * c[k, j], k)
//   for i: { for t: own[t] = v(i, t);  for j: out[i, j] = sum(own[k] * c[k, j], k) }
#pragma once
#include "engine/uop/uop.h"

namespace uopscope {

/// The kernel with DEFINE_REGs for these values. An Opt may have cut their loops: it is done after the last one.
UOp storeInnerValues(UOp ast);

} // namespace uopscope
