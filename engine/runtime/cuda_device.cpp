// CUDA: GPUs of NVIDIA. CUDA:1 is the second GPU. With CUDA_SPLIT=4 each GPU appears as four devices with
// streams of their own, so that shards can be tried on one GPU.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/render/gpu_text.h"
#include "engine/runtime/allocator.h"
#include "engine/runtime/cuda_program.h"
#include "engine/runtime/device_makers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

namespace uopscope {

namespace {

using namespace cuda;

class CudaDevice : public Device {
public:
  explicit CudaDevice(const std::string& name) : Device(name), gpu_(opened(name)) {
    size_t total = 0;
    check(api().deviceTotalMem(&total, gpu_.ordinal), "cuDeviceTotalMem", gpu_.label);
    allocator_.emplace(name, 0,
                       BlockSource{[this](size_t bytes) { return memoryTable().take(gpu_, bytes); },
                                   [](void* memory, size_t) { memoryTable().give(memory); }, total});
    renderer_ = makeRenderer();
  }

  const Renderer& renderer() const override { return *renderer_; }
  std::shared_ptr<Program> compile(const LoweredKernel& kernel, const std::string& source) override {
    return makeProgram(kernel, source, gpu_);
  }
  std::unique_ptr<LaunchBatch> makeBatch(std::span<const BatchedLaunch> launches) override {
    return cuda::makeBatch(gpu_, launches);
  }
  bool isTimed() const override { return true; }
  void* allocate(size_t bytes) override { return allocator_->allocate(bytes); }
  void release(void* memory, size_t bytes) override { allocator_->release(memory, bytes); }
  void copyIn(void* device, const void* host, size_t bytes) override {
    if (bytes == 0) return;
    gpu_.enter();
    // For pageable memory, the driver has read it when this returns.
    check(api().memcpyToDevice(reinterpret_cast<Address>(device), host, bytes, gpu_.stream), "cuMemcpyHtoD",
          gpu_.label);
  }
  void copyOut(void* host, const void* device, size_t bytes) override {
    if (bytes == 0) return;
    gpu_.enter();
    check(api().memcpyToHost(host, reinterpret_cast<Address>(device), bytes, gpu_.stream), "cuMemcpyDtoH",
          gpu_.label);
    gpu_.synchronize();
  }
  bool copyFrom(void* to, Device& source, const void* from, size_t bytes) override {
    auto* other = dynamic_cast<CudaDevice*>(&source);
    if (!other) return false;
    if (bytes == 0) return true;
    other->gpu_.synchronize(); // its kernels may still write the memory read here
    gpu_.enter();
    check(api().memcpyPeer(reinterpret_cast<Address>(to), gpu_.context, reinterpret_cast<Address>(from),
                           other->gpu_.context, bytes, gpu_.stream),
          "cuMemcpyPeer", gpu_.label);
    gpu_.synchronize(); // its owner may overwrite that memory next
    return true;
  }
  void synchronize() override { gpu_.synchronize(); }

private:
  /// Opens the driver's device of that name. It is never destroyed, since buffers outlive static objects.
  static Gpu& opened(const std::string& name) {
    size_t colon = name.find(':');
    auto number =
        static_cast<int>(colon == std::string::npos ? 0 : std::strtol(name.c_str() + colon + 1, nullptr, 10));
    auto split = static_cast<int>(std::max<int64_t>(1, envInt("CUDA_SPLIT", 1)));
    api();
    if (int count = deviceCount(); number >= count * split)
      throw Error(
          ErrorKind::Device,
          fmt::format("there is no {}: CUDA finds {} GPU{} here; CUDA_SPLIT={} shows each as several devices",
                      name, count, count == 1 ? "" : "s", number / count + 1));
    auto* gpu = std::make_unique<Gpu>().release();
    check(api().deviceGet(&gpu->ordinal, number / split), "cuDeviceGet", name);
    std::array<char, 256> text{};
    check(api().deviceGetName(text.data(), text.size(), gpu->ordinal), "cuDeviceGetName", name);
    gpu->label = fmt::format("{} ({})", name, text.data());
    gpu->architecture = fmt::format("sm_{}{}", attribute(gpu->ordinal, kCapabilityMajor),
                                    attribute(gpu->ordinal, kCapabilityMinor));
    check(api().primaryContextRetain(&gpu->context, gpu->ordinal), "cuDevicePrimaryCtxRetain", gpu->label);
    gpu->enter();
    check(api().streamCreate(&gpu->stream, kStreamNonBlocking), "cuStreamCreate", gpu->label);
    check(api().eventCreate(&gpu->begin, 0), "cuEventCreate", gpu->label);
    check(api().eventCreate(&gpu->end, 0), "cuEventCreate", gpu->label);
    return *gpu;
  }

  std::unique_ptr<Renderer> makeRenderer() const {
    GpuLanguage language = cudaLanguage();
    Target target = language.target();
    target.suffix = fmt::format("{} {}", gpu_.label.substr(gpu_.label.find('(')), gpu_.architecture);
    for (int i = 0; i < 3; ++i) {
      auto at = static_cast<size_t>(i);
      target.localMax[at] = std::min<int64_t>(attribute(gpu_.ordinal, kMaxBlockDimX + i),
                                              attribute(gpu_.ordinal, kMaxThreadsPerBlock));
      target.globalMax[at] = attribute(gpu_.ordinal, kMaxGridDimX + i);
    }
    target.sharedMax = attribute(gpu_.ordinal, kMaxSharedPerBlock);
    if (attribute(gpu_.ordinal, kCapabilityMajor) < 8) target.tensorCores.clear();
    return makeGpuRenderer(std::move(language), std::move(target));
  }

  Gpu& gpu_;
  std::optional<BlockAllocator> allocator_;
  std::unique_ptr<Renderer> renderer_;
};

} // namespace

std::shared_ptr<Device> makeCudaDevice(const std::string& name) {
  return std::make_shared<CudaDevice>(name);
}

} // namespace uopscope
