// A renderer turns a linear program into text. Each target language has a file;
// docs/design/adding-a-backend.md describes how to add one.
//
//   std::string source = makeGpuRenderer("CUDA")->render(kernel);
#pragma once
#include "engine/codegen/codegen.h"

namespace uopscope {

class Renderer {
public:
  virtual ~Renderer() = default;
  virtual const Target& target() const = 0;
  virtual std::string render(const LoweredKernel& kernel) const = 0;
  /// The same text. `lines`, if given, receives the instructions that each line comes from, in order of
  /// lines. A renderer that does not know them leaves it empty.
  virtual std::string renderWithLines(const LoweredKernel& kernel, std::vector<TextLine>* /*lines*/) const {
    return render(kernel);
  }
};

} // namespace uopscope
