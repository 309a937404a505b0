// Creates buffers of WebGPU.
#include "engine/runtime/webgpu_memory.h"

namespace uopscope::webgpu {

AddressTable<Block>& memoryTable() {
  // Never destroyed: buffers outlive static objects, and so may the driver.
  static auto* table = std::make_unique<AddressTable<Block>>(kWebGpuAddresses, "a WebGPU device").release();
  return *table;
}

void* take(Gpu& gpu, size_t bytes) {
  if (bytes > gpu.limits.bufferSize) return nullptr;
  Handle buffer = gpu.createBuffer(bytes, kStorage | kCopyFrom | kCopyTo);
  if (!buffer) return nullptr;
  return memoryTable().add({std::move(buffer), bytes, &gpu});
}

} // namespace uopscope::webgpu
