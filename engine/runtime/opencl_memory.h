// Memory of OpenCL devices: the table from addresses to cl_mem (address_table.h), and sub-buffers.
//
//   void* a = memory.take(owner, 1 << 20);
//   auto [block, offset] = memory.find(static_cast<std::byte*>(a) + 256);     // offset == 256
#pragma once
#include "engine/runtime/address_table.h"
#include "engine/runtime/opencl_api.h"

#include <map>
#include <mutex>
#include <string>

namespace uopscope::opencl {

class QueueOwner;

struct Block {
  Handle memory = noHandle();
  size_t bytes = 0;
  QueueOwner* owner = nullptr;         ///< the device that it belongs to
  std::map<size_t, Handle> parts = {}; ///< sub-buffers by offset, made at first use by a kernel
};
/// A device as memory and programs see it.
class QueueOwner {
public:
  virtual ~QueueOwner() = default;
  Object id = nullptr;
  Object context = nullptr, queue = nullptr; ///< live until the process ends, as the driver does
  size_t partAlign = 1;                      ///< the offset of a sub-buffer must be a multiple of this
  std::string label;                         ///< "CL:1 (Tesla T4)"
};

class MemoryTable {
public:
  /// Null if the driver has no more memory.
  void* take(QueueOwner& owner, size_t bytes);
  void give(void* address) { blocks_.remove(address); }
  /// Throws Error(Runtime) for an address that is no memory of OpenCL.
  AddressTable<Block>::Place find(const void* address) { return blocks_.find(address); }
  /// The sub-buffer from an offset to the end of the block. The offset must be a multiple of partAlign.
  Object part(Block& block, size_t offset);

private:
  std::mutex mutex_; ///< of the sub-buffers
  AddressTable<Block> blocks_{kOpenClAddresses, "an OpenCL device"};
};
/// One table for all devices of the process.
MemoryTable& memoryTable();

} // namespace uopscope::opencl
