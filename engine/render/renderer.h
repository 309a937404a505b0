// A renderer turns a linear program into text. One file per target language; adding one is described in
// docs/design/adding-a-backend.md.
#pragma once
#include "engine/codegen/codegen.h"

namespace uopscope {

class Renderer {
public:
  virtual ~Renderer() = default;
  virtual const Target& target() const = 0;
  virtual std::string render(const LoweredKernel& kernel) const = 0;
  /// The same text; where `lines` is given it receives which instructions each line is made of, in order of
  /// lines. A renderer that does not know says nothing.
  virtual std::string renderWithLines(const LoweredKernel& kernel, std::vector<TextLine>* /*lines*/) const {
    return render(kernel);
  }
};

} // namespace uopscope
