// Runs a script once in a process of its own and measures it from outside: wall and processor time, peak
// memory. Inside, a RunMeter counts; the program writes its numbers to the file that UOPSCOPE_METER names.
//
//   BenchRun r = runScriptOnce({.program = "/usr/bin/uopscope", .script = "a.py", .settings = {{"NOOPT",
//   "1"}}});
//
// The process dies with its parent, and after `timeout` seconds with everything it started.
#pragma once
#include "replay/experiment/experiment.h"

namespace uopscope {

struct ScriptRun {
  std::string program; ///< this program, another build of it, or a Python interpreter
  std::string script;
  std::vector<std::string> arguments;
  BenchSettings settings; ///< environment variables; "program" is none of them
  double timeout = 0;     ///< seconds; 0: none
};
BenchRun runScriptOnce(const ScriptRun& run);

} // namespace uopscope
