// REF: host memory and the reference interpreter. Its listing of a kernel is C, for readers. REF:AMX runs kernels made for a
// processor with tiles; its listing is LLVM IR. REF:GPU runs
// kernels made for a GPU, thread by thread, and watches them; its listing is OpenCL C. REF:CUDA, REF:METAL,
// REF:CL and REF:WGSL do the same with kernels made for these targets, without tensor cores.
#include "engine/render/c_renderer.h"
#include "engine/render/gpu_text.h"
#include "engine/render/llvm_renderer.h"
#include "engine/runtime/allocator.h"
#include "engine/runtime/device_makers.h"
#include "engine/runtime/host_memory_device.h"
#include "engine/runtime/ref_program.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

namespace uopscope {

namespace {

class RefDevice : public HostMemoryDevice {
public:
  explicit RefDevice(std::string name) : HostMemoryDevice(std::move(name)) {
    if (this->name() == kOfTiles) renderer_ = std::make_unique<LlvmRenderer>(amxTarget(this->name()));
  }
  static constexpr std::string_view kOfTiles = "REF:AMX";
  const Renderer& renderer() const override { return *renderer_; }
  std::shared_ptr<Program> compile(const LoweredKernel& kernel, const std::string&) override {
    return std::make_shared<RefProgram>(kernel);
  }

private:
  /// The target of REF: all operations are native, and there is one work item.
  static Target target() {
    Target t = cpuTarget("REF");
    t.device = "REF";
    t.hasThreads = false;
    t.nativeOps = group::kAlu;
    return t;
  }
  std::unique_ptr<Renderer> renderer_ = std::make_unique<CRenderer>(target());
};

/// Records the bytes that were ever written. It has no host view, so every write passes through it.
class RefGpuDevice : public Device {
public:
  explicit RefGpuDevice(std::string name) : Device(name), allocator_(std::move(name)) {
    std::string language = this->name().substr(this->name().find(':') + 1);
    for (const GpuLanguage& l : gpuLanguages()) {
      if (l.name != (language == "GPU" ? "CL" : language)) continue;
      Target target = l.target();
      target.device = this->name();
      renderer_ = makeGpuRenderer(l, std::move(target));
    }
  }
  const Renderer& renderer() const override { return *renderer_; }
  std::shared_ptr<Program> compile(const LoweredKernel& kernel, const std::string&) override {
    return std::make_shared<RefProgram>(
        kernel, RefGpu{[this](const void* at) { return shadowOf(at); }, renderer_->target().tensorCores});
  }
  void* allocate(size_t bytes) override {
    void* memory = allocator_.allocate(bytes);
    std::lock_guard lock(mutex_);
    written_[static_cast<const std::byte*>(memory)].assign(bytes, false);
    return memory;
  }
  void release(void* memory, size_t bytes) override {
    {
      std::lock_guard lock(mutex_);
      written_.erase(static_cast<const std::byte*>(memory));
    }
    allocator_.release(memory, bytes);
  }
  void copyIn(void* device, const void* host, size_t bytes) override {
    std::memcpy(device, host, bytes);
    if (auto [shadow, offset] = shadowOf(device); shadow)
      std::fill_n(shadow->begin() + static_cast<std::ptrdiff_t>(offset), bytes, true);
  }
  void copyOut(void* host, const void* device, size_t bytes) override { std::memcpy(host, device, bytes); }

private:
  std::pair<GpuWatch::Shadow, size_t> shadowOf(const void* address) {
    const auto* at = static_cast<const std::byte*>(address);
    std::lock_guard lock(mutex_);
    auto after = written_.upper_bound(at);
    if (after == written_.begin()) return {};
    auto block = std::prev(after);
    auto offset = static_cast<size_t>(at - block->first);
    return offset <= block->second.size() ? std::pair{&block->second, offset}
                                          : std::pair<GpuWatch::Shadow, size_t>{};
  }

  BlockAllocator allocator_;
  std::unique_ptr<Renderer> renderer_;
  std::mutex mutex_;
  std::map<const std::byte*, std::vector<bool>> written_;
};

} // namespace

std::shared_ptr<Device> makeRefDevice(const std::string& name) {
  size_t colon = name.find(':');
  bool isGpu =
      colon != std::string::npos && name.find_first_not_of("0123456789", colon + 1) != std::string::npos;
  if (isGpu && name != RefDevice::kOfTiles) return std::make_shared<RefGpuDevice>(name);
  return std::make_shared<RefDevice>(name);
}

} // namespace uopscope
