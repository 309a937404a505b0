// REF: host memory and the reference interpreter. Its listing of a kernel is C, for reading.
#include "engine/render/c_renderer.h"
#include "engine/runtime/allocator.h"
#include "engine/runtime/device_makers.h"
#include "engine/runtime/ref_program.h"

#include <cstring>

namespace uopscope {

namespace {

class RefDevice : public Device {
public:
  explicit RefDevice(std::string name) : Device(name), allocator_(std::move(name)) {}
  const Renderer& renderer() const override { return renderer_; }
  std::shared_ptr<Program> compile(const LoweredKernel& kernel, const std::string&) override {
    return std::make_shared<RefProgram>(kernel);
  }
  void* allocate(size_t bytes) override { return allocator_.allocate(bytes); }
  void release(void* memory, size_t bytes) override { allocator_.release(memory, bytes); }
  void copyIn(void* device, const void* host, size_t bytes) override { std::memcpy(device, host, bytes); }
  void copyOut(void* host, const void* device, size_t bytes) override { std::memcpy(host, device, bytes); }
  void* hostView(void* memory) override { return memory; }

private:
  /// Every operation there is, one work item.
  static Target target() {
    Target t = cpuTarget("REF");
    t.device = "REF";
    t.hasThreads = false;
    t.nativeOps = group::kAlu;
    return t;
  }
  BlockAllocator allocator_;
  CRenderer renderer_{target()};
};

} // namespace

std::shared_ptr<Device> makeRefDevice(std::string name) {
  return std::make_shared<RefDevice>(std::move(name));
}

} // namespace uopscope
