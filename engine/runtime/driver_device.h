// A GPU behind a driver of driver_api.h as a device: memory, copies, launches. CUDA and AMD add a renderer and a compiler.
//
//   class CudaDevice : public driver::DriverDevice { std::unique_ptr<Code> codeOf(kernel, source) override ... };
#pragma once
#include "engine/runtime/allocator.h"
#include "engine/runtime/driver_program.h"

#include <memory>
#include <string>

namespace uopscope::driver {

class DriverDevice : public Device {
public:
  const Renderer& renderer() const override { return *renderer_; }
  std::shared_ptr<Program> compile(const LoweredKernel& kernel, const std::string& source) override;
  std::unique_ptr<LaunchBatch> makeBatch(std::span<const BatchedLaunch> launches) override;
  bool isTimed() const override { return true; }
  void* allocate(size_t bytes) override { return allocator_.allocate(bytes); }
  void release(void* memory, size_t bytes) override { allocator_.release(memory, bytes); }
  void copyIn(void* device, const void* host, size_t bytes) override;
  void copyOut(void* host, const void* device, size_t bytes) override;
  bool copyFrom(void* to, Device& source, const void* from, size_t bytes) override;
  void synchronize() override { gpu_.synchronize(); }

protected:
  DriverDevice(const std::string& name, Gpu& gpu, std::unique_ptr<Renderer> renderer);
  /// Throws Error(Compile) with the compiler's message and the source.
  virtual std::unique_ptr<Code> codeOf(const LoweredKernel& kernel, const std::string& source) = 0;
  const Gpu& gpu() const { return gpu_; }

private:
  Gpu& gpu_;
  BlockAllocator allocator_;
  std::unique_ptr<Renderer> renderer_;
};

} // namespace uopscope::driver
