// The cache of freed blocks in front of a block source.
#include "engine/runtime/allocator.h"

#include "engine/base/error.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace uopscope {

namespace {

constexpr size_t kAlign = 64, kHuge = size_t{2} << 20;
constexpr size_t kLarge = size_t{1} << 20; ///< from here on a larger block serves, and sizes come in classes
constexpr size_t kSlack = size_t{4} << 20; ///< kept without regard to what was in use
constexpr size_t kFreedSizes = 64;         ///< freed sizes that are remembered

/// Large sizes come in 16 classes between powers of two, so that plans that differ by little share blocks.
size_t sizeClass(size_t bytes) {
  size_t step = bytes < kLarge ? kAlign : std::bit_floor(bytes) / 16;
  return std::max(step, (bytes + step - 1) & ~(step - 1));
}

/// Pages of a mapping whose whole huge pages begin at huge pages: the tail has small ones, so that a block takes no
/// more memory than it asked for.
void* mapHuge(size_t size) {
  size_t space = size + kHuge;
  void* mapped = mmap(nullptr, space, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* first = static_cast<std::byte*>(mapped);
  size_t before = (kHuge - reinterpret_cast<uintptr_t>(first) % kHuge) % kHuge;
  if (before) munmap(first, before);
  if (size_t after = space - before - size) munmap(first + before + size, after);
  madvise(first + before, size / kHuge * kHuge, MADV_HUGEPAGE);
  return first + before;
}

size_t wholePages(size_t size) {
  auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (size + page - 1) / page * page;
}

} // namespace

size_t physicalMemory() {
  return static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

BlockSource hostMemory() {
  auto take = [](size_t size) {
    return size < kHuge ? std::aligned_alloc(kAlign, size) : mapHuge(wholePages(size));
  };
  auto give = [](void* memory, size_t size) {
    if (size < kHuge)
      std::free(memory);
    else
      munmap(memory, wholePages(size));
  };
  return {take, give, physicalMemory()};
}

BlockAllocator::BlockAllocator(std::string device, size_t keepBytes, BlockSource source)
    : device_(std::move(device)), source_(std::move(source)),
      keepBytes_(keepBytes ? keepBytes : source_.total / 4) {}

BlockAllocator::~BlockAllocator() {
  trim();
}

void* BlockAllocator::allocate(size_t bytes) {
  std::lock_guard lock(mutex_);
  size_t size = sizeClass(bytes);
  void* memory = reuse(size);
  if (!memory && bytes <= size && inUse_ + size <= source_.total) memory = take(size);
  if (!memory)
    throw Error(ErrorKind::Runtime,
                fmt::format("out of memory on {}: {:.1f} MB asked for, {:.1f} MB in use, {:.1f} MB in "
                            "all; free tensors "
                            "that are no longer needed, or compute in smaller parts",
                            device_, static_cast<double>(bytes) * 1e-6, static_cast<double>(inUse_) * 1e-6,
                            static_cast<double>(source_.total) * 1e-6));
  mostInUse_ = std::max(mostInUse_, inUse_);
  return memory;
}

/// A kept block of the size, or of one that is little larger; null if there is none.
void* BlockAllocator::reuse(size_t size) {
  auto found = bySize_.lower_bound(size);
  if (found == bySize_.end() || found->first > (size < kLarge ? size : size + size / 4)) return nullptr;
  // The block released last is most likely still in the processor's cache.
  Kept block = found->second.back();
  found->second.pop_back();
  if (found->second.empty()) bySize_.erase(found);
  void* memory = block->memory;
  if (block->bytes != size) larger_[memory] = block->bytes;
  kept_ -= block->bytes;
  inUse_ += block->bytes;
  oldestFirst_.erase(block);
  return memory;
}

void* BlockAllocator::take(size_t size) {
  makeRoom(size);
  void* memory = source_.take(size);
  while (!memory && kept_) {
    evictOldest();
    memory = source_.take(size);
  }
  if (memory) inUse_ += size;
  return memory;
}

void BlockAllocator::makeRoom(size_t size) {
  if (auto again = std::find(freed_.begin(), freed_.end(), size); again != freed_.end()) {
    freed_.erase(again);
    cameBack_ += size;
  }
  // A system that overcommits would grant more memory than the machine has, and fail later.
  size_t bound = std::min(source_.total, std::max(mostInUse_, inUse_ + size) + cameBack_ + kSlack);
  while (kept_ && inUse_ + kept_ + size > bound) {
    freed_.push_back(oldestFirst_.front().bytes);
    if (freed_.size() > kFreedSizes) freed_.pop_front();
    evictOldest();
  }
}

void BlockAllocator::release(void* memory, size_t bytes) {
  if (!memory) return;
  std::lock_guard lock(mutex_);
  size_t size = sizeClass(bytes);
  if (auto own = larger_.find(memory); own != larger_.end()) {
    size = own->second;
    larger_.erase(own);
  }
  inUse_ -= size;
  oldestFirst_.push_back({memory, size});
  bySize_[size].push_back(std::prev(oldestFirst_.end()));
  kept_ += size;
  while (kept_ > keepBytes_) evictOldest();
}

void BlockAllocator::evictOldest() {
  auto oldest = oldestFirst_.begin();
  auto sameSize = bySize_.find(oldest->bytes);
  sameSize->second.erase(std::find(sameSize->second.begin(), sameSize->second.end(), oldest));
  if (sameSize->second.empty()) bySize_.erase(sameSize);
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
