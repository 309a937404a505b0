// The assembly text of an object file, function by function, with labels at targets of jumps.
#pragma once
#include "engine/runtime/device.h"

#include <string>
#include <string_view>

namespace uopscope {

/// Available if the engine was built with LLVM. `lines` receives the source of lines, if the object has debug
/// information.
std::string disassembleObject(std::string_view object, const std::string& triple, const std::string& cpu,
                              const std::string& features, std::vector<AssemblyLine>* lines = nullptr);

/// The text of one function's bytes.
std::string disassembleCode(std::string_view code, const std::string& name, const std::string& triple,
                            const std::string& cpu);

} // namespace uopscope
