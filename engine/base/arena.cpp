// Growth of an arena. The first chunk is two kilobytes, since a compiled kernel and a cached schedule each
// keep a pool of a few nodes. Each further chunk is as large as all chunks before it together, up to 64
// kilobytes, a size that malloc keeps ready.
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
