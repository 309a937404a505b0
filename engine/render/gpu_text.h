// What the languages of GPUs share: scalars alone are computed with, vectors are only loaded, stored and
// taken apart; work groups have indices, memory of their own and barriers. One file per language holds the
// rest.
//
//   for (const GpuLanguage& l : gpuLanguages()) ...       // CUDA, METAL, CL, WGSL
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
  /// A float constant that has no digits: NaN, or an infinity.
  virtual std::string notFinite(DType type, double value);
  /// "ll" of 64-bit constants, behind the "u" of unsigned ones.
  virtual const char* longSuffix() { return "l"; }
  /// The expression of dimension `axis` of a launch: of groups, of threads in a group, of all threads.
  enum class Index : uint8_t { Group, Local, All };
  virtual std::string launchIndex(Index kind, int axis) = 0;
  [[noreturn]] static void noForm(const char* language, const std::string& what);
};

/// What a GPU can do, as far as they agree.
Target gpuTarget(std::string device);

struct GpuLanguage {
  const char* name;
  std::function<Target()> target;
  std::function<std::unique_ptr<CText>()> text;
};
/// What OpenCL devices may lack. Halves are then stored as 16-bit integers and computed as floats.
struct OpenClFeatures {
  bool half = true, doubles = true;
};
GpuLanguage cudaLanguage();
GpuLanguage metalLanguage();
GpuLanguage openClLanguage(OpenClFeatures features = {});
/// The function of a kernel: a name of a script's own gets a "_", since OpenCL has functions called all, sum,
/// max.
std::string openClFunctionName(const std::string& kernel);
GpuLanguage wgslLanguage();
std::span<const GpuLanguage> gpuLanguages();

/// Null where there is no such language. Names are in capitals.
std::unique_ptr<Renderer> makeGpuRenderer(std::string_view language);
/// Of a device that exists, with its own limits.
std::unique_ptr<Renderer> makeGpuRenderer(GpuLanguage language, Target target);

} // namespace uopscope
