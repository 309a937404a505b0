// A kernel that was compiled to be read: its GPU, or the GPU's driver, is not here.
//
//   return std::make_shared<ListingProgram>([binary](auto* lines) { return listing(binary, lines); }, registers);
//
// Invariant: it never runs.
#pragma once
#include "engine/runtime/device.h"
#include "engine/runtime/register_use.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace uopscope {

class ListingProgram : public Program, public TellsRegisters {
public:
  /// Gives the machine code as text, and its lines where they are asked for (else null).
  using Text = std::function<std::string(std::vector<AssemblyLine>*)>;
  ListingProgram(Text text, std::optional<RegisterUse> registers)
      : text_(std::move(text)), registers_(registers) {}
  double launch(std::span<void* const>, std::span<const int64_t>, std::span<const int64_t>,
                std::span<const int64_t>, bool) override {
    return -1;
  }
  std::string assembly() const override { return text_(nullptr); }
  std::string assemblyWithLines(std::vector<AssemblyLine>& lines) const override { return text_(&lines); }
  std::optional<RegisterUse> registerUse() const override { return registers_; }

private:
  Text text_;
  std::optional<RegisterUse> registers_;
};

} // namespace uopscope
