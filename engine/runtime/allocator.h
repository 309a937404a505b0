// Memory for buffers. Released blocks are kept, since the next iteration of a loop asks for the same sizes
// again, and fresh memory costs a page fault for every 4 KiB, or a call of a driver.
//
//   BlockAllocator a("CPU");
//   void* p = a.allocate(1 << 20);  a.release(p, 1 << 20);
//   a.allocate(1 << 20) == p
//
// Blocks in use and kept blocks together take no more than the blocks in use once did: before new memory is
// taken, the blocks released longest ago are freed. A loop whose steps need different sizes in turns would then
// free and take the same memory in each turn, so a size that is asked for again after it was freed raises the
// bound by itself. A request of a megabyte and more also takes a kept block that is a quarter larger at most.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
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
  /// Never keeps more than `keepBytes` of free memory (0: a quarter of the machine's memory).
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
  using Kept = std::list<Block>::iterator;
  void* reuse(size_t bytes);
  void* take(size_t bytes);
  void makeRoom(size_t bytes);
  void evictOldest();

  mutable std::mutex mutex_;
  std::string device_;
  BlockSource source_;
  size_t keepBytes_, inUse_ = 0, kept_ = 0;
  size_t mostInUse_ = 0; ///< the largest inUse_ so far
  size_t cameBack_ = 0;  ///< sizes that were asked for again after they were freed
  std::list<Block> oldestFirst_;
  std::map<size_t, std::vector<Kept>> bySize_;
  std::unordered_map<void*, size_t> larger_; ///< blocks given for smaller requests, with their own size
  std::deque<size_t> freed_;                 ///< sizes freed to make room, the last ones
};

/// The physical memory of the machine in bytes.
size_t physicalMemory();

} // namespace uopscope
