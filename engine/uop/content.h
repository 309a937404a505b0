// The content of a graph as words. Two graphs have the same words exactly when they are the same graph, even
// in different pools. A table that must never mistake one graph for another compares words instead of a hash.
//
//   contentOf(a) == contentOf(b)        // 4 words a node and one a source
//
// The words contain addresses of interned arguments, so they have no meaning in another process; use
// UOp::key() there.
#pragma once
#include "engine/uop/uop.h"

#include <cstdint>
#include <vector>

namespace uopscope {

std::vector<uint64_t> contentOf(UOp root);

} // namespace uopscope
