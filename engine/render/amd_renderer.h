// LLVM IR for GPUs of AMD: what the generic walk of llvm_renderer.cpp says differently there.
//
//   AmdRenderer r(amdTarget("gfx942"));
//   r.render(kernel)    // define amdgpu_kernel void @E_64(ptr addrspace(1) noalias align 4 %data0_64, ...) ...
//
// Buffers lie in address space 1, memory of a group in 3, arrays of a thread in 5. A text names its architecture, so
// llc takes it as it is.
#pragma once
#include "engine/render/renderer.h"

#include <string>
#include <string_view>

namespace uopscope {

/// The architecture of NULL:AMD and REF:AMD where AMD_ARCH names none.
constexpr const char* kDefaultAmdArchitecture = "gfx942";

/// What code generation has to know of an architecture: "gfx90a", "gfx942", "gfx1100". Tensor cores are MFMA from
/// gfx90a to gfx942, WMMA on gfx11.
Target amdTarget(std::string_view architecture);

class AmdRenderer : public Renderer {
public:
  /// `target` is an amdTarget; its suffix ends with the name of the architecture.
  explicit AmdRenderer(Target target) : target_(std::move(target)) {}
  const Target& target() const override { return target_; }
  std::string architecture() const { return target_.suffix.substr(target_.suffix.rfind(' ') + 1); }
  std::string render(const LoweredKernel& kernel) const override { return renderWithLines(kernel, nullptr); }
  std::string renderWithLines(const LoweredKernel& kernel, std::vector<TextLine>* lines) const override;

private:
  Target target_;
};

} // namespace uopscope
