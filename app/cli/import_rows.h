// Turns foreign files into traces: timelines in Chrome's format (Perfetto reads and writes it), CSV, graphs in DOT, profiles of
// tinygrad.
//
//   importChromeTrace(text, "out.uoptrace");   // spans become scopes, passes, phases and rows of the
//   timeline
//   importCsv(in, "out.uoptrace", "steps");    // a table from `export`, or rows with name, begin, duration
#pragma once
#include <cstdint>
#include <istream>
#include <string>
#include <utility>

namespace uopscope::cli {

/// Splits "model.py:12" into file and line; line 0 where the text names none.
std::pair<std::string, int64_t> scriptPlace(const std::string& at);
/// Returns a summary of the result: "12 spans". Error(Value) states the fault of the input.
std::string importChromeTrace(const std::string& text, const std::string& path);
std::string importCsv(std::istream& in, const std::string& path, const std::string& name);
/// `file`: the name of the graph's file.
std::string importDot(const std::string& text, const std::string& file, const std::string& path);

/// A profile of tinygrad, with thread traces of AMD's GPUs (SQTT) where it has them.
std::string importProfile(const std::string& file, const std::string& path);

} // namespace uopscope::cli
