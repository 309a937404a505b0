// What a compiler did with the registers of a kernel: the other side of engine/codegen/live_ranges.h, which
// predicts it.
//
//   if (auto* tells = dynamic_cast<const TellsRegisters*>(&program)) tells->registerUse()->spilledBytes
#pragma once
#include <cstdint>
#include <optional>

namespace uopscope {

struct RegisterUse {
  int64_t registers =
      0;              ///< different ones that the code names: of vectors on a processor, of a thread on a GPU
  int64_t spills = 0; ///< instructions that move a value to the stack
  int64_t reloads = 0;       ///< instructions that take one from there
  int64_t spilledBytes = 0;  ///< that the spills write, each instruction counted once
  int64_t reloadedBytes = 0; ///< that the reloads read
  int64_t stackBytes = 0;    ///< places on the stack for spilled values
};

/// A Program whose compiler may say what it did.
class TellsRegisters {
public:
  virtual ~TellsRegisters() = default;
  virtual std::optional<RegisterUse> registerUse() const = 0;
};

} // namespace uopscope
