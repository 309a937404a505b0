// WEBGPU: any adapter that wgpu-native finds, by Vulkan, Metal or Direct3D. WEBGPU:1 is the second adapter;
// WEBGPU_SPLIT=2 shows each adapter as two devices. WEBGPU_STANDARD=1 leaves out the 64-bit types that
// wgpu-native has beyond the standard.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/render/gpu_text.h"
#include "engine/runtime/allocator.h"
#include "engine/runtime/device_makers.h"
#include "engine/runtime/webgpu_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace uopscope::webgpu {

namespace {

class WebGpuDevice : public Device {
public:
  explicit WebGpuDevice(std::string name) : Device(std::move(name)), gpu_(opened(this->name())) {
    // WebGPU does not tell how much memory an adapter has: what the machine has bounds what is kept.
    allocator_.emplace(this->name(), 0,
                       BlockSource{[this](size_t bytes) { return take(gpu_, bytes); },
                                   [](void* memory, size_t) { memoryTable().remove(memory); },
                                   physicalMemory()});
    renderer_ = makeRenderer();
  }

  const Renderer& renderer() const override { return *renderer_; }
  std::shared_ptr<Program> compile(const LoweredKernel& kernel, const std::string& source) override {
    return makeProgram(kernel, source, gpu_);
  }
  std::unique_ptr<LaunchBatch> makeBatch(std::span<const BatchedLaunch> launches) override {
    return webgpu::makeBatch(launches);
  }
  bool isTimed() const override { return true; }
  void* allocate(size_t bytes) override {
    if (bytes > gpu_.limits.bufferSize)
      throw Error(
          ErrorKind::Runtime,
          fmt::format("out of memory on {}: {:.1f} MB asked for, a buffer has at most {:.1f} MB there; "
                      "compute in smaller parts",
                      gpu_.label, static_cast<double>(bytes) * 1e-6,
                      static_cast<double>(gpu_.limits.bufferSize) * 1e-6));
    return allocator_->allocate(bytes);
  }
  void release(void* memory, size_t bytes) override { allocator_->release(memory, bytes); }
  void copyIn(void* device, const void* host, size_t bytes) override {
    auto [block, offset] = memoryTable().find(device);
    block->owner->write(block->buffer.get(), offset, host, bytes);
  }
  void copyOut(void* host, const void* device, size_t bytes) override {
    auto [block, offset] = memoryTable().find(device);
    block->owner->read(block->buffer.get(), offset, host, bytes);
  }
  void synchronize() override { gpu_.finish(); }

private:
  /// Opens the adapter of that name. It is never destroyed, since buffers outlive static objects.
  static Gpu& opened(const std::string& name) {
    size_t colon = name.find(':');
    size_t number = colon == std::string::npos ? 0 : std::strtoul(name.c_str() + colon + 1, nullptr, 10);
    auto split = static_cast<size_t>(std::max<int64_t>(1, envInt("WEBGPU_SPLIT", 1)));
    const std::vector<Object>& all = adapters();
    if (number >= all.size() * split)
      throw Error(ErrorKind::Device,
                  fmt::format("there is no {}: WebGPU finds {} adapter{} here; WEBGPU_SPLIT={} shows each as "
                              "several devices",
                              name, all.size(), all.size() == 1 ? "" : "s", number / all.size() + 1));
    return *std::make_unique<Gpu>(name, all[number / split]).release();
  }

  std::unique_ptr<Renderer> makeRenderer() const {
    GpuLanguage language = wgslLanguage(
        {.half = gpu_.hasHalf, .int64 = gpu_.hasInt64, .doubles = gpu_.hasDouble, .offsets = true});
    Target target = language.target();
    target.device = "WEBGPU";
    target.suffix = gpu_.version;
    const Limits& most = gpu_.limits;
    for (size_t i = 0; i < 3; ++i) {
      target.localMax[i] = std::min(most.groupSize[i], most.groupThreads);
      target.globalMax[i] = most.groupsPerDimension;
    }
    target.sharedMax = most.sharedBytes;
    return makeGpuRenderer(std::move(language), std::move(target));
  }

  Gpu& gpu_;
  std::optional<BlockAllocator> allocator_;
  std::unique_ptr<Renderer> renderer_;
};

} // namespace

} // namespace uopscope::webgpu

namespace uopscope {

std::shared_ptr<Device> makeWebGpuDevice(const std::string& name) {
  return std::make_shared<webgpu::WebGpuDevice>(name);
}

} // namespace uopscope
