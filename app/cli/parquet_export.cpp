// The script runs in this program's own Python, so that it finds packages of an active virtual environment. A
// build without Python runs python3.
#include "app/cli/parquet_export.h"

#include "app/cli/cli.h"
#include "app/cli/replay_command.h"
#include "replay/foreign/foreign_scripts.h"

#include <filesystem>
#include <fstream>

namespace uopscope::cli {

int exportParquet(const std::vector<std::string>& traces, const std::string& output, bool json) {
  TemporaryFile script(".py");
  std::ofstream(script.path()) << foreignScript("trace_parquet.py");
#ifdef UOPSCOPE_HAVE_PYTHON
  std::vector<std::string> command = {selfPath(), "run", script.path()};
#else
  std::vector<std::string> command = {"python3", script.path()};
#endif
  command.insert(command.end(), traces.begin(), traces.end());
  command.insert(command.end(), {"-o", output});
  if (json) command.emplace_back("--json");
  return runProgram(command, "", "", {{"VIZ", "0"}, {"UOPSCOPE_TRACE", ""}, {"TRACK_MATCH_STATS", "0"}}) == 0
             ? kFine
             : kUsage;
}

} // namespace uopscope::cli
