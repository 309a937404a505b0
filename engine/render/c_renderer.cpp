// C for the CPU: the target, and the renderer around c_writer.
#include "engine/render/c_renderer.h"

#include "engine/render/c_writer.h"

namespace uopscope {

std::string CRenderer::renderWithLines(const LoweredKernel& kernel, std::vector<TextLine>* lines) const {
  CText c;
  return writeC(kernel, c, lines);
}

Target cpuTarget(std::string suffix) {
  Target t;
  t.device = "CPU";
  t.suffix = std::move(suffix);
  t.hasThreads = true;
  t.globalMax = {1, 1, 1};
  t.nativeOps =
      group::kAlu - OpSet{Op::EXP2, Op::LOG2, Op::SIN, Op::POW, Op::THREEFRY, Op::RECIPROCAL, Op::MULACC};
  t.supportsDtype = [](DType d) { return !d.isVoid() && d.kind() != Scalar::Index; };
  return t;
}

} // namespace uopscope
