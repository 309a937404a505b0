// Memory for buffers. Released blocks are kept, since the next iteration of a loop asks for the same sizes
// again, and fresh memory costs a page fault for every 4 KiB, or a call of a driver.
//
//   BlockAllocator a("CPU");
//   void* p = a.allocate(1 << 20);  a.release(p, 1 << 20);
//   a.allocate(1 << 20) == p
//
// The amount of kept memory is bounded; blocks released longest ago are freed first.
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

/// The origin of blocks. `take` returns null if there is no more memory.
struct BlockSource {
  std::function<void*(size_t bytes)> take;
  std::function<void(void* memory, size_t bytes)> give;
  size_t total; ///< total size of the memory in bytes
};
/// The machine's memory, in blocks aligned to 64 bytes.
BlockSource hostMemory();

class BlockAllocator {
public:
  /// Keeps at most `keepBytes` of free memory (0: a quarter of the machine's memory).
  explicit BlockAllocator(std::string device, size_t keepBytes = 0, BlockSource source = hostMemory());
  ~BlockAllocator();
  BlockAllocator(const BlockAllocator&) = delete;
  BlockAllocator& operator=(const BlockAllocator&) = delete;

  /// The contents are undefined. Throws Error(Runtime) naming the requested size and the memory in use.
  void* allocate(size_t bytes);
  void release(void* memory, size_t bytes);
  /// Returns all kept memory to the system.
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

/// The physical memory of the machine in bytes.
size_t physicalMemory();

} // namespace uopscope
