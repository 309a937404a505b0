// The C renderer: a linear program as one readable C function, for clang (vectors are its ext_vector_type).
//
//   CRenderer c(cpuTarget());
//   c.render(kernel)   // void E_4(float* restrict data0_4, float* restrict data1_4) { ... }
//
// The expression of a value with one user is written inside that user, unless the text would get long. Loads
// always get a name, so they stay in program order. Integer arithmetic wraps (compile with -fwrapv). Division
// by zero gives zero, as in the reference interpreter. bfloat16 and fp8 are stored as integers and computed
// as float, with helper functions above the kernel. float16 is clang's _Float16 (compile with -Xclang
// -ffloat16-excess-precision=none to round after every operation).
#pragma once
#include "engine/render/renderer.h"

namespace uopscope {

class CRenderer : public Renderer {
public:
  explicit CRenderer(Target target) : target_(std::move(target)) {}
  const Target& target() const override { return target_; }
  std::string render(const LoweredKernel& kernel) const override { return renderWithLines(kernel, nullptr); }
  std::string renderWithLines(const LoweredKernel& kernel, std::vector<TextLine>* lines) const override;

private:
  Target target_;
};

/// The abilities of the CPU as code generation sees them.
Target cpuTarget(std::string suffix);

} // namespace uopscope
