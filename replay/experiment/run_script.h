// Runs a script once in a process of its own and measures it from outside: wall and processor time, peak
// memory. Inside, a RunMeter measures, and the program writes the numbers to the file that UOPSCOPE_METER
// names.
//
//   BenchRun r = runScriptOnce({.program = "/usr/bin/uopscope", .script = "a.py",
//                               .settings = {{"NOOPT", "1"}}});
//
// The process dies with its parent. After `timeout` seconds it is killed with every process it started.
#pragma once
#include "replay/experiment/experiment.h"

namespace uopscope {

struct ScriptRun {
  std::string program; ///< this program, a second build of it, or a Python interpreter
  std::string script;
  std::vector<std::string> arguments;
  BenchSettings settings; ///< environment variables, without "program"
  double timeout = 0;     ///< seconds; 0: none
  /// Receives every compilation of the run with its story (replay/record/corpus.h); the run is then not measured
  /// from inside. Empty: nothing is captured.
  std::string corpus;
};
BenchRun runScriptOnce(const ScriptRun& run);

} // namespace uopscope
