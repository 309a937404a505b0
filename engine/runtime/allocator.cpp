// The cache of freed blocks in front of a block source.
#include "engine/runtime/allocator.h"

#include "engine/base/error.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace uopscope {

namespace {
constexpr size_t kAlign = 64, kHuge = size_t{2} << 20;
}

size_t physicalMemory() {
  return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

BlockSource hostMemory() {
  auto take = [](size_t size) {
    size_t align = size >= kHuge ? kHuge : kAlign;
    void* memory = std::aligned_alloc(align, (size + align - 1) / align * align);
    if (memory && size >= kHuge) madvise(memory, size, MADV_HUGEPAGE);
    return memory;
  };
  return {take, [](void* memory, size_t) { std::free(memory); }, physicalMemory()};
}

BlockAllocator::BlockAllocator(std::string device, size_t keepBytes, BlockSource source)
    : device_(std::move(device)), source_(std::move(source)),
      keepBytes_(keepBytes ? keepBytes : source_.total / 4) {}

BlockAllocator::~BlockAllocator() {
  trim();
}

size_t BlockAllocator::rounded(size_t bytes) {
  return std::max(kAlign, (bytes + kAlign - 1) & ~(kAlign - 1));
}

void* BlockAllocator::allocate(size_t bytes) {
  std::lock_guard lock(mutex_);
  size_t size = rounded(bytes);
  if (auto it = bySize_.find(size); it != bySize_.end() && !it->second.empty()) {
    // The block released last is most likely still in the processor's cache.
    auto block = it->second.back();
    it->second.pop_back();
    void* memory = block->memory;
    oldestFirst_.erase(block);
    kept_ -= size;
    inUse_ += size;
    return memory;
  }
  // A system that overcommits would grant more memory than the machine has, and fail later. Kept blocks are
  // therefore freed before a request exceeds the machine's memory.
  while (kept_ && inUse_ + kept_ + size > source_.total) evictOldest();
  void* memory = nullptr;
  if (bytes <= size && inUse_ + size <= source_.total) {
    memory = source_.take(size);
    while (!memory && kept_) {
      evictOldest();
      memory = source_.take(size);
    }
  }
  if (!memory)
    throw Error(ErrorKind::Runtime,
                fmt::format("out of memory on {}: {:.1f} MB asked for, {:.1f} MB in use, {:.1f} MB in "
                            "all; free tensors "
                            "that are no longer needed, or compute in smaller parts",
                            device_, static_cast<double>(bytes) * 1e-6, static_cast<double>(inUse_) * 1e-6,
                            static_cast<double>(source_.total) * 1e-6));
  inUse_ += size;
  return memory;
}

void BlockAllocator::release(void* memory, size_t bytes) {
  if (!memory) return;
  std::lock_guard lock(mutex_);
  size_t size = rounded(bytes);
  inUse_ -= size;
  oldestFirst_.push_back({memory, size});
  bySize_[size].push_back(std::prev(oldestFirst_.end()));
  kept_ += size;
  while (kept_ > keepBytes_) evictOldest();
}

void BlockAllocator::evictOldest() {
  auto oldest = oldestFirst_.begin();
  auto& sameSize = bySize_[oldest->bytes];
  sameSize.erase(std::find(sameSize.begin(), sameSize.end(), oldest));
  kept_ -= oldest->bytes;
  source_.give(oldest->memory, oldest->bytes);
  oldestFirst_.pop_front();
}

void BlockAllocator::trim() {
  std::lock_guard lock(mutex_);
  while (kept_) evictOldest();
}

size_t BlockAllocator::bytesInUse() const {
  std::lock_guard lock(mutex_);
  return inUse_;
}
size_t BlockAllocator::bytesKept() const {
  std::lock_guard lock(mutex_);
  return kept_;
}

} // namespace uopscope
