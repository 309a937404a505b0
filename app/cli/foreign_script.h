// Runs the Python programs that this program contains (replay/foreign).
//
//   if (runForeignScript("trace_parquet.py", {"a.uoptrace", "-o", "steps.parquet"}) != 0) ...
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace uopscope::cli {

/// Runs it with this program's own Python, which finds the packages of an active virtual environment; a build without Python
/// takes python3. Its output goes to the file `log` where one is named. Returns its exit code.
int runForeignScript(std::string_view name, const std::vector<std::string>& arguments,
                     const std::string& log = {});

} // namespace uopscope::cli
