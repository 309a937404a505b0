// NULL: kernels are lowered and rendered as for CPU, and never run; its memory is an address without
// contents. NULL:CUDA, NULL:METAL, NULL:CL, NULL:WGSL and NULL:AMD do the same in the languages of GPUs. With
// CUDA_ARCH=sm_90, NULL:CUDA also compiles, so that registers and machine code can be read without a GPU; so does
// NULL:AMD with AMD_ARCH=gfx942. NULL:AMX compiles for a processor with tiles (tile_cores.h), whatever this one is.
#include "engine/render/c_renderer.h"
#include "engine/render/cuda_architecture.h"
#include "engine/render/gpu_text.h"
#include "engine/render/llvm_renderer.h"
#include "engine/render/nvptx_renderer.h"
#include "engine/runtime/amd_compiler.h"
#include "engine/runtime/cuda_compiler.h"
#include "engine/runtime/device_makers.h"
#include "engine/runtime/processor_listing.h"

#include <cstring>

namespace uopscope {

namespace {

class NullDevice : public Device {
public:
  explicit NullDevice(std::string name) : Device(std::move(name)), renderer_(rendererOf(this->name())) {
    if (this->name() == "NULL:CUDA") architecture_ = cuda::wantedArchitecture();
    if (this->name() == "NULL:CUDA" && !architecture_.empty() && cuda::usesLlvm())
      renderer_ = std::make_unique<NvptxRenderer>(renderer_->target());
    if (this->name() == "NULL:AMD") architecture_ = amd::wantedArchitecture();
  }
  const Renderer& renderer() const override { return *renderer_; }
  std::shared_ptr<Program> compile(const LoweredKernel& kernel, const std::string& source) override {
    if (name() == kOfTiles) return makeProcessorListing(kernel, source, kAmxProcessor);
    if (architecture_.empty()) return nullptr;
    return name() == "NULL:AMD" ? amd::makeListing(kernel, source, architecture_)
                                : cuda::makeListing(kernel, source, architecture_);
  }
  void* allocate(size_t) override { return this; }
  void release(void*, size_t) override {}
  void copyIn(void*, const void*, size_t) override {}
  void copyOut(void* host, const void*, size_t bytes) override { std::memset(host, 0, bytes); }

private:
  static std::unique_ptr<Renderer> rendererOf(const std::string& name) {
    constexpr std::string_view kOf = "NULL:"; // what follows names the language: "NULL:CUDA"
    if (name.starts_with(kOf))
      if (auto gpu = makeGpuRenderer(std::string_view(name).substr(kOf.size()))) return gpu;
    if (name == kOfTiles) return std::make_unique<LlvmRenderer>(amxTarget(name));
    Target t = cpuTarget("C");
    t.device = "NULL";
    return std::make_unique<CRenderer>(t);
  }
  static constexpr std::string_view kOfTiles = "NULL:AMX";

  std::unique_ptr<Renderer> renderer_;
  std::string architecture_; ///< the value of CUDA_ARCH or AMD_ARCH; empty: kernels are not compiled
};

} // namespace

std::shared_ptr<Device> makeNullDevice(const std::string& name) {
  return std::make_shared<NullDevice>(name);
}

} // namespace uopscope
