// Chunk growth: small pools stay small (one kernel is a few kilobytes), large ones grow by a megabyte at a
// time.
#include "engine/base/arena.h"

#include <algorithm>

namespace uopscope {

void* Arena::allocateSlow(size_t bytes) {
  constexpr size_t kChunk = 64 << 10;
  size_t chunk = std::max(bytes, kChunk);
  chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk));
  reserved_ += chunk;
  at_ = chunks_.back().get() + bytes;
  left_ = chunk - bytes;
  return chunks_.back().get();
}

} // namespace uopscope
