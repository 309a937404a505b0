// Assembly text of an object file: function by function, with labels where jumps go.
#pragma once
#include "engine/runtime/device.h"

#include <string>
#include <string_view>

namespace uopscope {

/// Only where the engine was built with LLVM. `lines` receives where lines come from, if the object says.
std::string disassembleObject(std::string_view object, const std::string& triple, const std::string& cpu,
                              const std::string& features, std::vector<AssemblyLine>* lines = nullptr);

} // namespace uopscope
