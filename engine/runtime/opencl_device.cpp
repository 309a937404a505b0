// CL: any device that an OpenCL driver finds. CL:1 is the second device. Each device has a context and a
// queue of its own.
#include "engine/base/error.h"
#include "engine/render/gpu_text.h"
#include "engine/runtime/allocator.h"
#include "engine/runtime/device_makers.h"
#include "engine/runtime/opencl_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

namespace uopscope::opencl {

namespace {

class OpenClDevice : public Device, public QueueOwner {
public:
  explicit OpenClDevice(std::string name) : Device(std::move(name)) {
    open(this->name());
    allocator_.emplace(this->name(), 0,
                       BlockSource{[this](size_t bytes) { return memoryTable().take(*this, bytes); },
                                   [](void* memory, size_t) { memoryTable().give(memory); },
                                   deviceValue<uint64_t>(id, kDeviceGlobalMemSize)});
    renderer_ = makeRenderer();
  }

  const Renderer& renderer() const override { return *renderer_; }
  std::shared_ptr<Program> compile(const LoweredKernel& kernel, const std::string& source) override {
    return makeProgram(kernel, source, *this);
  }
  bool isTimed() const override { return true; }
  void* allocate(size_t bytes) override { return allocator_->allocate(bytes); }
  void release(void* memory, size_t bytes) override { allocator_->release(memory, bytes); }
  void copyIn(void* device, const void* host, size_t bytes) override {
    auto [block, offset] = memoryTable().find(device);
    if (bytes)
      check(api().enqueueWriteBuffer(queue, block->memory.get(), 1, offset, bytes, host, 0, nullptr, nullptr),
            "clEnqueueWriteBuffer", label);
  }
  void copyOut(void* host, const void* device, size_t bytes) override {
    auto [block, offset] = memoryTable().find(device);
    if (bytes)
      check(api().enqueueReadBuffer(queue, block->memory.get(), 1, offset, bytes, host, 0, nullptr, nullptr),
            "clEnqueueReadBuffer", label);
  }
  void synchronize() override { check(api().finish(queue), "clFinish", label); }

private:
  void open(const std::string& name) {
    size_t colon = name.find(':');
    size_t number = colon == std::string::npos ? 0 : std::strtoul(name.c_str() + colon + 1, nullptr, 10);
    const std::vector<Object>& all = devices();
    if (number >= all.size()) {
      std::string first = deviceText(all[0], kDeviceName);
      throw Error(ErrorKind::Device,
                  fmt::format("there is no {}: OpenCL finds {} device{} here, the first is {}{}", name,
                              all.size(), all.size() == 1 ? "" : "s", first,
                              first.starts_with("pthread") || first.starts_with("cpu")
                                  ? "; PoCL makes two of the CPU with POCL_DEVICES=\"pthread pthread\""
                                  : ""));
    }
    id = all[number];
    label = fmt::format("{} ({})", name, deviceText(id, kDeviceName));
    Int status = 0;
    context = api().createContext(nullptr, 1, &id, nullptr, nullptr, &status);
    check(status, "clCreateContext", label);
    queue = api().createCommandQueue(context, id, kQueueProfilingEnable, &status);
    check(status, "clCreateCommandQueue", label);
    partAlign = std::max<size_t>(1, deviceValue<UInt>(id, kDeviceMemBaseAddrAlign) / 8);
  }

  std::unique_ptr<Renderer> makeRenderer() const {
    std::string extensions = " " + deviceText(id, kDeviceExtensions) + " ";
    auto has = [&](const char* name) { return extensions.find(name) != std::string::npos; };
    GpuLanguage language = openClLanguage({.half = has(" cl_khr_fp16 "), .doubles = has(" cl_khr_fp64 ")});
    Target target = language.target();
    target.suffix = fmt::format("{} {}", deviceText(id, kDeviceName), deviceText(id, kDriverVersion));
    auto items = deviceValue<std::array<size_t, 3>>(id, kDeviceMaxWorkItemSizes);
    size_t group = deviceValue<size_t>(id, kDeviceMaxWorkGroupSize);
    for (size_t i = 0; i < 3; ++i)
      target.localMax[i] = std::min(target.localMax[i], static_cast<int64_t>(std::min(items[i], group)));
    target.sharedMax = std::min<int64_t>(target.sharedMax, deviceValue<int64_t>(id, kDeviceLocalMemSize));
    return makeGpuRenderer(std::move(language), std::move(target));
  }

  std::optional<BlockAllocator> allocator_;
  std::unique_ptr<Renderer> renderer_;
};

} // namespace

} // namespace uopscope::opencl

namespace uopscope {

std::shared_ptr<Device> makeOpenClDevice(const std::string& name) {
  return std::make_shared<opencl::OpenClDevice>(name);
}

} // namespace uopscope
