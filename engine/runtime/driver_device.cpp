// Copies wait for the stream where a caller may touch the memory next.
#include "engine/runtime/driver_device.h"

namespace uopscope::driver {

namespace {

BlockSource sourceOf(Gpu& gpu) {
  size_t total = 0;
  gpu.must(gpu.api.deviceTotalMem, &total, gpu.ordinal);
  return {[&gpu](size_t bytes) { return memoryTable().take(gpu, bytes); },
          [](void* memory, size_t) { memoryTable().give(memory); }, total};
}

Address addressOf(const void* memory) {
  return reinterpret_cast<Address>(memory);
}

} // namespace

DriverDevice::DriverDevice(const std::string& name, Gpu& gpu, std::unique_ptr<Renderer> renderer)
    : Device(name), gpu_(gpu), allocator_(name, 0, sourceOf(gpu)), renderer_(std::move(renderer)) {}

std::shared_ptr<Program> DriverDevice::compile(const LoweredKernel& kernel, const std::string& source) {
  return makeProgram(kernel, codeOf(kernel, source), gpu_);
}

std::unique_ptr<LaunchBatch> DriverDevice::makeBatch(std::span<const BatchedLaunch> launches) {
  return driver::makeBatch(gpu_, launches);
}

void DriverDevice::copyIn(void* device, const void* host, size_t bytes) {
  if (bytes == 0) return;
  gpu_.enter();
  // For pageable memory, the driver has read it when this returns.
  gpu_.must(gpu_.api.memcpyToDevice, addressOf(device), host, bytes, gpu_.stream);
}

void DriverDevice::copyOut(void* host, const void* device, size_t bytes) {
  if (bytes == 0) return;
  gpu_.enter();
  gpu_.must(gpu_.api.memcpyToHost, host, addressOf(device), bytes, gpu_.stream);
  gpu_.synchronize();
}

bool DriverDevice::copyFrom(void* to, Device& source, const void* from, size_t bytes) {
  auto* other = dynamic_cast<DriverDevice*>(&source);
  if (!other || &other->gpu_.api != &gpu_.api) return false;
  if (bytes == 0) return true;
  other->gpu_.synchronize(); // its kernels may still write the memory read here
  gpu_.enter();
  gpu_.must(gpu_.api.memcpyPeer, addressOf(to), gpu_.context, addressOf(from), other->gpu_.context, bytes,
            gpu_.stream);
  gpu_.synchronize(); // its owner may overwrite that memory next
  return true;
}

} // namespace uopscope::driver
