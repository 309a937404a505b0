// Python programs that go with uopscope and need nothing of it: each is part of the program as text.
//
//   file << foreignScript("trace_parquet.py");
#pragma once
#include <string>
#include <string_view>

namespace uopscope {

/// Error(Value) for a name that there is not.
const std::string& foreignScript(std::string_view name);

} // namespace uopscope
