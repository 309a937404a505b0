// Bump allocation for objects that die together: the nodes of a pool, the facts about them. Memory is handed
// out in chunks that never move, so another thread may read the objects published to it.
//
//   Arena arena;
//   void* storage = arena.allocate(sizeof(Node));      // lives as long as `arena`
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace uopscope {

class Arena {
public:
  /// Uninitialised storage, aligned to 8 bytes, valid until the arena dies.
  void* allocate(size_t bytes) {
    bytes = (bytes + 7) & ~size_t{7};
    if (bytes > left_) return allocateSlow(bytes);
    void* result = at_;
    at_ += bytes;
    left_ -= bytes;
    return result;
  }

  size_t bytesReserved() const { return reserved_; }

private:
  void* allocateSlow(size_t bytes);

  std::byte* at_ = nullptr;
  size_t left_ = 0;
  size_t reserved_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
};

} // namespace uopscope
