// The C renderer: a linear program as one readable C function, for clang (vectors are its ext_vector_type).
//
//   CRenderer c(cpuTarget());
//   c.render(kernel)   // void E_4(float* restrict data0_4, float* restrict data1_4) { ... }
//
// Values with one user are written where they are used, unless the text would get long; loads always get a
// name, so they stay in program order. Integer arithmetic wraps (compile with -fwrapv); dividing by zero
// gives zero, as the reference interpreter has it. bfloat16 and fp8 are stored as integers and computed as
// float through a few functions written above the kernel where it needs them; float16 is clang's _Float16
// (compile with -Xclang -ffloat16-excess-precision=none to round after every operation).
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

/// What the CPU can do, as codegen sees it.
Target cpuTarget(std::string suffix);

} // namespace uopscope
