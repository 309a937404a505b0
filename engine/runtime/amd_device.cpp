// AMD: GPUs of AMD by HIP. AMD:1 is the second GPU. With AMD_SPLIT=4 each GPU appears as four devices with streams of
// their own. LLVM compiles; of ROCm only HIP's library is needed, which loads and launches.
#include "engine/render/amd_renderer.h"
#include "engine/runtime/amd_compiler.h"
#include "engine/runtime/device_makers.h"
#include "engine/runtime/driver_device.h"
#include "engine/runtime/hip_api.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

class AmdCode : public driver::Code {
public:
  AmdCode(const std::string& kernel, amd::Binary binary)
      : binary_(std::move(binary)), image_(amd::codeObject(kernel, binary_)) {}
  const std::string& image() const override { return image_; }
  std::string listing(std::vector<AssemblyLine>* lines) const override {
    return amd::listing(binary_, lines);
  }
  std::optional<RegisterUse> registerUse() const override { return amd::registerUseOf(binary_); }

private:
  amd::Binary binary_;
  std::string image_;
};

class AmdDevice : public driver::DriverDevice {
public:
  explicit AmdDevice(const std::string& name) : AmdDevice(name, opened(name)) {}

protected:
  std::unique_ptr<driver::Code> codeOf(const LoweredKernel& kernel, const std::string& source) override {
    return std::make_unique<AmdCode>(kernel.name, amd::compile(kernel.name, source, gpu().architecture));
  }

private:
  AmdDevice(const std::string& name, driver::Gpu& gpu) : DriverDevice(name, gpu, rendererFor(gpu)) {}

  static driver::Gpu& opened(const std::string& name) {
    driver::Gpu& gpu = driver::openGpu(hip::api(), name);
    gpu.architecture = hip::architectureOf(gpu.ordinal);
    return gpu;
  }

  static std::unique_ptr<Renderer> rendererFor(const driver::Gpu& gpu) {
    Target target = amdTarget(gpu.architecture);
    target.suffix = fmt::format("{} {}", gpu.label.substr(gpu.label.find('(')), gpu.architecture);
    return std::make_unique<AmdRenderer>(std::move(target));
  }
};

} // namespace

std::shared_ptr<Device> makeAmdDevice(const std::string& name) {
  return std::make_shared<AmdDevice>(name);
}

} // namespace uopscope
