// LLVM IR for GPUs of NVIDIA, which LLVM compiles to PTX: CUDA kernels where NVIDIA's compiler is not installed.
//
//   NvptxRenderer r(cudaLanguage().target());
//   r.render(kernel)    // define ptx_kernel void @E_64(ptr addrspace(1) noalias align 4 %data0_64, ...) ...
#pragma once
#include "engine/render/renderer.h"

namespace uopscope {

class NvptxRenderer : public Renderer {
public:
  /// `target` is that of CUDA, with CUDA's tensor cores or none. The text has no transcendental functions.
  explicit NvptxRenderer(Target target);
  const Target& target() const override { return target_; }
  std::string render(const LoweredKernel& kernel) const override { return renderWithLines(kernel, nullptr); }
  std::string renderWithLines(const LoweredKernel& kernel, std::vector<TextLine>* lines) const override;

private:
  Target target_;
};

} // namespace uopscope
