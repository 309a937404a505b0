// Memory for buffers: blocks are kept when given back, because the next iteration of a loop asks for the same
// sizes again and fresh memory costs a page fault every 4 KiB, or a call of a driver.
//
//   BlockAllocator a("CPU");
//   void* p = a.allocate(1 << 20);  a.release(p, 1 << 20);
//   a.allocate(1 << 20) == p
//
// Kept memory is bounded; memory given back longest ago goes first.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace uopscope {

/// Where blocks come from. `take` answers null where there is no more.
struct BlockSource {
  std::function<void*(size_t bytes)> take;
  std::function<void(void* memory, size_t bytes)> give;
  size_t total; ///< bytes there are
};
/// The machine's memory, in blocks aligned to 64 bytes.
BlockSource hostMemory();

class BlockAllocator {
public:
  /// Keeps at most `keepBytes` of free memory (0: a quarter of the machine's).
  explicit BlockAllocator(std::string device, size_t keepBytes = 0, BlockSource source = hostMemory());
  ~BlockAllocator();
  BlockAllocator(const BlockAllocator&) = delete;
  BlockAllocator& operator=(const BlockAllocator&) = delete;

  /// Contents are undefined. Throws Error(Runtime) that names the size asked for and the memory in use.
  void* allocate(size_t bytes);
  void release(void* memory, size_t bytes);
  /// Gives all kept memory back to the system.
  void trim();

  size_t bytesInUse() const;
  size_t bytesKept() const;

private:
  struct Block {
    void* memory;
    size_t bytes;
  };
  static size_t rounded(size_t bytes);
  void evictOldest();

  mutable std::mutex mutex_;
  std::string device_;
  BlockSource source_;
  size_t keepBytes_, inUse_ = 0, kept_ = 0;
  std::list<Block> oldestFirst_;
  std::unordered_map<size_t, std::vector<std::list<Block>::iterator>> bySize_;
};

/// Physical memory of the machine in bytes.
size_t physicalMemory();

} // namespace uopscope
