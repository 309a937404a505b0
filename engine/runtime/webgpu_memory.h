// Memory of WebGPU devices: the table from addresses to buffers of the library (address_table.h).
//
//   void* a = take(gpu, 1 << 20);                                       // null: no more memory
//   auto [block, offset] = memoryTable().find(static_cast<std::byte*>(a) + 256);     // offset == 256
#pragma once
#include "engine/runtime/address_table.h"
#include "engine/runtime/webgpu_queue.h"

namespace uopscope::webgpu {

struct Block {
  Handle buffer = noHandle();
  size_t bytes = 0;
  Gpu* owner = nullptr; ///< the device that it belongs to
};
/// One table for all devices of the process.
AddressTable<Block>& memoryTable();

/// A buffer that kernels and copies may use, as an address. `bytes` is a multiple of 4.
void* take(Gpu& gpu, size_t bytes);

} // namespace uopscope::webgpu
