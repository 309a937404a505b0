// Assembly text of an object file: function by function, with labels where jumps go.
#pragma once
#include <string>
#include <string_view>

namespace uopscope {

/// Only where the engine was built with LLVM.
std::string disassembleObject(std::string_view object, const std::string& triple, const std::string& cpu,
                              const std::string& features);

} // namespace uopscope
