// Foreign tables as traces: timelines in Chrome's format (Perfetto reads and writes it) and CSV.
//
//   importChromeTrace(text, "out.uoptrace");   // spans become scopes, passes, phases and rows of the
//   timeline importCsv(in, "out.uoptrace", "steps");    // what `export` wrote, or rows with a name, a begin
//   and a duration
#pragma once
#include <cstdint>
#include <istream>
#include <string>
#include <utility>

namespace uopscope::cli {

/// "model.py:12" as file and line; line 0 where none is named.
std::pair<std::string, int64_t> scriptPlace(const std::string& at);
/// What was made of it, in words: "12 spans". Error(Value) says what is wrong.
std::string importChromeTrace(const std::string& text, const std::string& path);
std::string importCsv(std::istream& in, const std::string& path, const std::string& name);

} // namespace uopscope::cli
