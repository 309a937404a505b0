// NULL: kernels are lowered and rendered as for CPU, and never run; memory is an address that nobody follows.
// NULL:CUDA, NULL:METAL, NULL:CL and NULL:WGSL do the same in the languages of GPUs.
#include "engine/render/c_renderer.h"
#include "engine/render/gpu_text.h"
#include "engine/runtime/device_makers.h"

#include <cstring>

namespace uopscope {

namespace {

class NullDevice : public Device {
public:
  explicit NullDevice(std::string name) : Device(std::move(name)), renderer_(rendererOf(this->name())) {}
  const Renderer& renderer() const override { return *renderer_; }
  std::shared_ptr<Program> compile(const LoweredKernel&, const std::string&) override { return nullptr; }
  void* allocate(size_t) override { return this; }
  void release(void*, size_t) override {}
  void copyIn(void*, const void*, size_t) override {}
  void copyOut(void* host, const void*, size_t bytes) override { std::memset(host, 0, bytes); }

private:
  static std::unique_ptr<Renderer> rendererOf(const std::string& name) {
    if (auto gpu = makeGpuRenderer(name.substr(name.find(':') + 1))) return gpu;
    Target t = cpuTarget("C");
    t.device = "NULL";
    return std::make_unique<CRenderer>(t);
  }
  std::unique_ptr<Renderer> renderer_;
};

} // namespace

std::shared_ptr<Device> makeNullDevice(std::string name) {
  return std::make_shared<NullDevice>(std::move(name));
}

} // namespace uopscope
