// Memory of OpenCL devices under addresses: the engine adds offsets to the memory of a buffer, and a cl_mem
// is no address. Every block gets a range of numbers that no program may follow; the table leads back.
//
//   void* a = memory.take(device, context, 1 << 20);
//   auto [block, offset] = memory.find(static_cast<std::byte*>(a) + 256);     // offset == 256
#pragma once
#include "engine/runtime/opencl_api.h"

#include <map>
#include <mutex>
#include <string>

namespace uopscope::opencl {

class QueueOwner;

struct Block {
  Handle memory = noHandle();
  size_t bytes = 0;
  QueueOwner* owner = nullptr;         ///< whose memory it is
  std::map<size_t, Handle> parts = {}; ///< sub-buffers by offset, made when a kernel first takes one
};
/// A device as memory and programs see it.
class QueueOwner {
public:
  virtual ~QueueOwner() = default;
  Object id = nullptr;
  Object context = nullptr, queue = nullptr; ///< live until the process ends, as the driver does
  size_t partAlign = 1;                      ///< bytes that the offset of a sub-buffer must divide by
  std::string label;                         ///< "CL:1 (Tesla T4)"
};

class MemoryTable {
public:
  /// Null where the driver has no more.
  void* take(QueueOwner& owner, size_t bytes);
  void give(void* address);
  struct Place {
    Block* block;
    size_t offset;
  };
  /// Throws Error(Runtime) for an address that is no memory of OpenCL.
  Place find(const void* address);
  /// The sub-buffer from an offset to the block's end; the offset is a multiple of partAlign.
  Object part(Block& block, size_t offset);

private:
  std::mutex mutex_;
  std::map<uintptr_t, Block> blocks_;
  uintptr_t next_ = uintptr_t{1} << 56; // no address of a process on any 64-bit machine
};
/// One table for all devices of the process.
MemoryTable& memoryTable();

} // namespace uopscope::opencl
