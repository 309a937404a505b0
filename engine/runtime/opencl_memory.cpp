// Creates buffers and sub-buffers of OpenCL.
#include "engine/runtime/opencl_memory.h"

namespace uopscope::opencl {

void* MemoryTable::take(QueueOwner& owner, size_t bytes) {
  Int status = 0;
  Object memory = api().createBuffer(owner.context, kMemReadWrite, bytes, nullptr, &status);
  if (status != 0) return nullptr;
  return blocks_.add({Handle(memory, api().releaseMemObject), bytes, &owner});
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
