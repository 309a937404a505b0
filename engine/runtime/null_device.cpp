// NULL: kernels are lowered and rendered as for CPU, and never run; memory is an address that nobody follows.
#include "engine/render/c_renderer.h"
#include "engine/runtime/device_makers.h"

#include <cstring>

namespace uopscope {

namespace {

class NullDevice : public Device {
public:
  explicit NullDevice(std::string name) : Device(std::move(name)) {}
  const Renderer& renderer() const override { return renderer_; }
  std::shared_ptr<Program> compile(const LoweredKernel&, const std::string&) override { return nullptr; }
  void* allocate(size_t) override { return this; }
  void release(void*, size_t) override {}
  void copyIn(void*, const void*, size_t) override {}
  void copyOut(void* host, const void*, size_t bytes) override { std::memset(host, 0, bytes); }

private:
  static Target target() {
    Target t = cpuTarget("C");
    t.device = "NULL";
    return t;
  }
  CRenderer renderer_{target()};
};

} // namespace

std::shared_ptr<Device> makeNullDevice(std::string name) {
  return std::make_shared<NullDevice>(std::move(name));
}

} // namespace uopscope
