// The pass "add local buffers". A BUFFERIZE in local memory becomes a DEFINE_LOCAL, a store of each thread's
// part, a BARRIER, and reads that come after the BARRIER.
//
//   INDEX(BUFFERIZE(v, r), i)  ->  INDEX(AFTER(local, BARRIER(END(STORE(INDEX(local, r), v), r))), i)
#pragma once
#include "engine/rewrite/matcher.h"

namespace uopscope {

struct LocalsContext {
  int64_t first = 0;    ///< number of the first DEFINE_LOCAL made here; the kernel's own have lower numbers
  UOpMap<UOp> memoryOf; ///< BUFFERIZE -> its DEFINE_LOCAL, numbered in order
};
std::span<const RuleDef> localBufferRules();

} // namespace uopscope
