// Foreign tables as traces: timelines in Chrome's format (Perfetto reads and writes it) and CSV.
//
//   importChromeTrace(text, "out.uoptrace");   // spans become scopes, passes, phases and rows of the
//   timeline importCsv(in, "out.uoptrace", "steps");    // what `export` wrote, or rows with a name, a begin
//   and a duration
#pragma once
#include <istream>
#include <string>

namespace uopscope::cli {

/// What was made of it, in words: "12 spans". Error(Value) says what is wrong.
std::string importChromeTrace(const std::string& text, const std::string& path);
std::string importCsv(std::istream& in, const std::string& path, const std::string& name);

} // namespace uopscope::cli
