// Addresses for memory of drivers whose buffers have none. The engine adds byte offsets to the memory of a
// buffer, so every block gets a range of addresses that is never dereferenced, and the table maps an address
// to its block. Ranges are above the memory of any process; each driver has ranges of its own, so an address
// given to the wrong driver is found by nobody.
//
//   AddressTable<Block> table(kOpenClAddresses, "an OpenCL device");
//   void* a = table.add(std::move(block), 1 << 20);
//   auto [block, offset] = table.find(static_cast<std::byte*>(a) + 256);     // offset == 256
#pragma once
#include "engine/base/error.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

namespace uopscope {

constexpr uintptr_t kOpenClAddresses = uintptr_t{1} << 56, kWebGpuAddresses = uintptr_t{3} << 55;

/// `Block` has a member `bytes`, its size. Threads may call all functions at once.
template <typename Block>
class AddressTable {
public:
  /// `first` is the lowest address; `owner` ends the message about a foreign address.
  AddressTable(uintptr_t first, const char* owner) : next_(first), owner_(owner) {}

  void* add(Block block) {
    std::lock_guard lock(mutex_);
    uintptr_t address = next_;
    next_ += (block.bytes + 2 * kPage - 1) / kPage * kPage;
    blocks_.emplace(address, std::move(block));
    return reinterpret_cast<void*>(address);
  }
  void remove(void* address) {
    std::lock_guard lock(mutex_);
    blocks_.erase(reinterpret_cast<uintptr_t>(address));
  }
  /// The block stays where it is until it is removed.
  struct Place {
    Block* block;
    size_t offset;
  };
  /// Throws Error(Runtime) for an address of no block.
  Place find(const void* address) {
    auto at = reinterpret_cast<uintptr_t>(address);
    std::lock_guard lock(mutex_);
    auto after = blocks_.upper_bound(at);
    if (after != blocks_.begin()) {
      auto block = std::prev(after);
      if (size_t offset = at - block->first; offset <= block->second.bytes) return {&block->second, offset};
    }
    throw Error(ErrorKind::Runtime, fmt::format("{} is no memory of {}", address, owner_));
  }

private:
  static constexpr size_t kPage = 4096; ///< between blocks, so that an index out of bounds hits no block
  std::mutex mutex_;
  std::map<uintptr_t, Block> blocks_;
  uintptr_t next_;
  const char* owner_;
};

} // namespace uopscope
