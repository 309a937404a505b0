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
};

} // namespace uopscope
