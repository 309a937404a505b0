// Chunk growth: a pool of a few nodes takes two kilobytes (a compiled kernel keeps one, a cached schedule
// another), and each further chunk is as large as all before it, up to a size that malloc keeps at hand.
#include "engine/base/arena.h"

#include <algorithm>

namespace uopscope {

void* Arena::allocateSlow(size_t bytes) {
  constexpr size_t kFirst = 2 << 10, kChunk = 64 << 10;
  size_t chunk = std::max(bytes, std::clamp(reserved_, kFirst, kChunk));
  chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk));
  reserved_ += chunk;
  at_ = chunks_.back().get() + bytes;
  left_ = chunk - bytes;
  return chunks_.back().get();
}

} // namespace uopscope
