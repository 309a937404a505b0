// The part that the languages of GPUs share. Arithmetic is on scalars alone; vectors are only loaded, stored
// and taken apart. Work groups have indices, shared memory and barriers. Each language has a file with the
// rest.
//
//   for (const GpuLanguage& l : gpuLanguages()) ...       // CUDA, METAL, CL, WGSL, AMD
//   makeGpuRenderer("CUDA")->render(kernel)
#pragma once
#include "engine/render/c_text.h"
#include "engine/render/renderer.h"

#include <functional>
#include <memory>
#include <string>

namespace uopscope {

class GpuText : public CText {
public:
  std::string constant(DType type, ConstValue value) override;
  std::string cast(DType to, DType from, const std::string& value) override;
  bool hasVector(UOp) override { return false; }
  bool hasSplat() override { return false; }
  std::string special(const LoweredKernel& kernel, UOp u) override;

protected:
  bool isComputedAsFloat(DType) override { return false; }
  /// A float constant without digits: NaN or an infinity.
  virtual std::string notFinite(DType type, double value);
  /// The suffix of 64-bit constants, written behind the "u" of unsigned ones.
  virtual const char* longSuffix() { return "l"; }
  /// The number of a group, of a thread in its group, or of a thread in the launch.
  enum class Index : uint8_t { Group, Local, All };
  virtual std::string launchIndex(Index kind, int axis) = 0;
  [[noreturn]] static void noForm(const char* language, const std::string& what);
};

/// The abilities that all GPUs share.
Target gpuTarget(std::string device);

struct GpuLanguage {
  const char* name;
  std::function<Target()> target;
  std::function<std::unique_ptr<CText>()>
      text; ///< null for a language unlike C, which has a renderer of its own
  std::function<std::unique_ptr<Renderer>(Target)> renderer = nullptr;
};
/// Features that an OpenCL device may lack. Without half arithmetic, halves are stored as 16-bit integers and
/// computed as floats.
struct OpenClFeatures {
  bool half = true, doubles = true;
};
/// For the architecture ("sm_90a"); without one, for that in CUDA_ARCH, else for what all have from sm_80 on.
GpuLanguage cudaLanguage(const std::string& architecture = {});
GpuLanguage metalLanguage();
GpuLanguage openClLanguage(OpenClFeatures features = {});
/// What a device of WebGPU has beside 32-bit types. With `offsets`, kernels have a constant for each buffer,
/// the elements in its binding before the buffer begins: a binding begins at aligned addresses alone.
struct WgslFeatures {
  bool half = true, int64 = false, doubles = false, offsets = false;
};
GpuLanguage wgslLanguage(WgslFeatures features = {});
/// The name of a kernel's function. The name of a script's own kernel gets a "_", since OpenCL and WGSL have
/// functions all, sum, max.
std::string gpuFunctionName(const std::string& kernel);
/// LLVM IR for the architecture in AMD_ARCH, else for kDefaultAmdArchitecture.
GpuLanguage amdLanguage();
std::span<const GpuLanguage> gpuLanguages();

/// Null if there is no such language. Names are in capitals.
std::unique_ptr<Renderer> makeGpuRenderer(std::string_view language);
/// The renderer for an existing device with its own limits.
std::unique_ptr<Renderer> makeGpuRenderer(GpuLanguage language, Target target);

} // namespace uopscope
