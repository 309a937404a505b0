// The buffers that nodes have memory in.
//
//   for (const auto& b : liveBuffers()) total += b->bytes();
#pragma once
#include "engine/runtime/buffer.h"

#include <vector>

namespace uopscope {

/// The memory of all nodes of the session that have some, oldest first. A buffer without memory yet is not among them.
std::vector<std::shared_ptr<Buffer>> liveBuffers();

} // namespace uopscope
