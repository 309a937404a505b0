// The content of a graph as words: two graphs have the same words exactly when they are the same graph, whatever
// pools they live in. Tables that must not mistake one graph for another compare these and not a hash.
//
//   contentOf(a) == contentOf(b)        // 4 words a node and one a source
//
// The words hold addresses of interned arguments, so they mean nothing in another process: UOp::key() is for
// that.
#pragma once
#include "engine/uop/uop.h"

#include <cstdint>
#include <vector>

namespace uopscope {

std::vector<uint64_t> contentOf(UOp root);

} // namespace uopscope
