#pragma once
// HostMemoryDevice: a device whose memory is the host's. CPU, REF and DISK are such devices: a copy is a memcpy, and
// the host reads a buffer where it lies.
//
//   class RefDevice : public HostMemoryDevice { ... };   // adds a renderer and compile()

#include "engine/runtime/allocator.h"
#include "engine/runtime/device.h"

#include <cstring>

namespace uopscope {

class HostMemoryDevice : public Device {
public:
  explicit HostMemoryDevice(std::string name) : Device(name), allocator_(std::move(name)) {}
  void* allocate(size_t bytes) override { return allocator_.allocate(bytes); }
  void release(void* memory, size_t bytes) override { allocator_.release(memory, bytes); }
  void releaseKept() override { allocator_.trim(); }
  void copyIn(void* device, const void* host, size_t bytes) override { std::memcpy(device, host, bytes); }
  void copyOut(void* host, const void* device, size_t bytes) override { std::memcpy(host, device, bytes); }
  void* hostView(void* memory) override { return memory; }

private:
  BlockAllocator allocator_;
};

} // namespace uopscope
