// CUDA: GPUs of NVIDIA. CUDA:1 is the second GPU. With CUDA_SPLIT=4 each GPU appears as four devices with
// streams of their own, so that shards can be tried on one GPU.
#include "engine/render/cuda_architecture.h"
#include "engine/render/gpu_text.h"
#include "engine/render/nvptx_renderer.h"
#include "engine/runtime/cuda_api.h"
#include "engine/runtime/cuda_boxes.h"
#include "engine/runtime/cuda_compiler.h"
#include "engine/runtime/device_makers.h"
#include "engine/runtime/driver_device.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope::cuda {

namespace {

class CudaCode : public driver::Code {
public:
  CudaCode(Binary binary, int64_t sharedBytes, std::vector<BoxMap> maps)
      : binary_(std::move(binary)), sharedBytes_(sharedBytes), maps_(std::move(maps)) {}
  const std::string& image() const override { return binary_.image; }
  std::string listing(std::vector<AssemblyLine>* lines) const override { return sass(binary_, lines); }
  std::optional<RegisterUse> registerUse() const override { return registerUseOf(binary_); }
  int64_t sharedBytes() const override { return sharedBytes_; }
  std::vector<driver::LargeArgument> furtherArguments(std::span<void* const> buffers) const override {
    std::vector<driver::LargeArgument> all;
    for (const BoxMap& m : maps_) all.push_back(encoded(m, buffers[static_cast<size_t>(m.position)]));
    return all;
  }

private:
  Binary binary_;
  int64_t sharedBytes_;
  std::vector<BoxMap> maps_;
};

class CudaDevice : public driver::DriverDevice {
public:
  explicit CudaDevice(const std::string& name) : CudaDevice(name, opened(name)) {}

protected:
  std::unique_ptr<driver::Code> codeOf(const LoweredKernel& kernel, const std::string& source) override {
    if (llvm_)
      return std::make_unique<CudaCode>(cuda::compileIr(kernel.name, source, gpu().architecture), 0,
                                        std::vector<BoxMap>());
    return std::make_unique<CudaCode>(cuda::compile(kernel.name, source, gpu().architecture),
                                      SharedMemory(kernel).dynamic(), boxMapsOf(kernel));
  }

private:
  CudaDevice(const std::string& name, driver::Gpu& gpu) : DriverDevice(name, gpu, rendererFor(gpu)) {}

  static driver::Gpu& opened(const std::string& name) {
    driver::Gpu& gpu = driver::openGpu(api(), name);
    gpu.architecture = withOwnInstructions(fmt::format("sm_{}{}", attribute(gpu.ordinal, kCapabilityMajor),
                                                       attribute(gpu.ordinal, kCapabilityMinor)));
    return gpu;
  }

  static std::unique_ptr<Renderer> rendererFor(const driver::Gpu& gpu) {
    GpuLanguage language = cudaLanguage(gpu.architecture);
    Target target = language.target();
    target.suffix = fmt::format("{} {}", gpu.label.substr(gpu.label.find('(')), gpu.architecture);
    for (int i = 0; i < 3; ++i) {
      auto at = static_cast<size_t>(i);
      target.localMax[at] = std::min<int64_t>(attribute(gpu.ordinal, kMaxBlockDimX + i),
                                              attribute(gpu.ordinal, kMaxThreadsPerBlock));
      target.globalMax[at] = attribute(gpu.ordinal, kMaxGridDimX + i);
    }
    target.sharedMax = attribute(gpu.ordinal, kMaxSharedOnRequest);
    target.processors = attribute(gpu.ordinal, kProcessors);
    target.cacheBytes = attribute(gpu.ordinal, kCacheBytes);
    if (usesLlvm()) return std::make_unique<NvptxRenderer>(std::move(target));
    return makeGpuRenderer(std::move(language), std::move(target));
  }

  const bool llvm_ = usesLlvm();
};

} // namespace

} // namespace uopscope::cuda

namespace uopscope {

std::shared_ptr<Device> makeCudaDevice(const std::string& name) {
  return std::make_shared<cuda::CudaDevice>(name);
}

} // namespace uopscope
