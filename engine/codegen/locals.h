// add local buffers: a BUFFERIZE in local memory becomes DEFINE_LOCAL, a store of every thread's part, a
// BARRIER, and reads that come after it.
#pragma once
#include "engine/rewrite/matcher.h"

namespace uopscope {

struct LocalsContext {
  int64_t first = 0;    ///< number of the first DEFINE_LOCAL made here; those before are the kernel's own
  UOpMap<UOp> memoryOf; ///< BUFFERIZE -> its DEFINE_LOCAL, numbered in order
};
std::span<const RuleDef> localBufferRules();

} // namespace uopscope
