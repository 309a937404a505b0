// Python programs that ship with uopscope and need no part of it. The program contains each as text.
//
//   file << foreignScript("trace_parquet.py");
#pragma once
#include <string>
#include <string_view>

namespace uopscope {

/// Throws Error(Value) for an unknown name.
const std::string& foreignScript(std::string_view name);

} // namespace uopscope
