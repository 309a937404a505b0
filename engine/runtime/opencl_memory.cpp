// The table from addresses to cl_mem.
#include "engine/runtime/opencl_memory.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <iterator>

namespace uopscope::opencl {

namespace {
constexpr size_t kPage = 4096; ///< between blocks, so that an index out of bounds hits no block
}

void* MemoryTable::take(QueueOwner& owner, size_t bytes) {
  Int status = 0;
  Object memory = api().createBuffer(owner.context, kMemReadWrite, bytes, nullptr, &status);
  if (status != 0) return nullptr;
  std::lock_guard lock(mutex_);
  uintptr_t address = next_;
  next_ += (bytes + 2 * kPage - 1) / kPage * kPage;
  blocks_.emplace(address, Block{Handle(memory, api().releaseMemObject), bytes, &owner});
  return reinterpret_cast<void*>(address);
}

void MemoryTable::give(void* address) {
  std::lock_guard lock(mutex_);
  blocks_.erase(reinterpret_cast<uintptr_t>(address));
}

MemoryTable::Place MemoryTable::find(const void* address) {
  auto at = reinterpret_cast<uintptr_t>(address);
  std::lock_guard lock(mutex_);
  auto after = blocks_.upper_bound(at);
  if (after != blocks_.begin()) {
    auto block = std::prev(after);
    if (size_t offset = at - block->first; offset <= block->second.bytes) return {&block->second, offset};
  }
  throw Error(ErrorKind::Runtime, fmt::format("{} is no memory of an OpenCL device", address));
}

Object MemoryTable::part(Block& block, size_t offset) {
  std::lock_guard lock(mutex_);
  auto [at, isNew] = block.parts.try_emplace(offset, noHandle());
  if (isNew) {
    const size_t region[2] = {offset, block.bytes - offset};
    Int status = 0;
    Object part =
        api().createSubBuffer(block.memory.get(), kMemReadWrite, kBufferCreateTypeRegion, region, &status);
    if (status != 0) block.parts.erase(at);
    check(status, "clCreateSubBuffer", block.owner->label);
    at->second = Handle(part, api().releaseMemObject);
  }
  return at->second.get();
}

MemoryTable& memoryTable() {
  // Never destroyed: buffers outlive static objects, and so may the driver.
  static auto* table = std::make_unique<MemoryTable>().release();
  return *table;
}

} // namespace uopscope::opencl
