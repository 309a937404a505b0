// Chunk growth: small pools stay small (one kernel is a few kilobytes), large ones grow by a megabyte at a
// time.
#include "engine/base/arena.h"

#include <algorithm>

namespace uopscope {

void* Arena::allocateSlow(size_t bytes) {
  constexpr size_t kSmallest = 16 << 10, kLargest = 1 << 20;
  size_t chunk = std::max(bytes, std::clamp(reserved_, kSmallest, kLargest));
  chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk));
  reserved_ += chunk;
  at_ = chunks_.back().get() + bytes;
  left_ = chunk - bytes;
  return chunks_.back().get();
}

} // namespace uopscope
