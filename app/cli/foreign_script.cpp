// The program becomes a file for as long as it runs. Nothing that it does is recorded.
#include "app/cli/foreign_script.h"

#include "app/cli/replay_command.h"
#include "replay/foreign/foreign_scripts.h"

#include <fstream>

namespace uopscope::cli {

int runForeignScript(std::string_view name, const std::vector<std::string>& arguments,
                     const std::string& log) {
  TemporaryFile script(".py");
  std::ofstream(script.path()) << foreignScript(name);
#ifdef UOPSCOPE_HAVE_PYTHON
  std::vector<std::string> command = {selfPath(), "run", script.path()};
#else
  std::vector<std::string> command = {"python3", script.path()};
#endif
  command.insert(command.end(), arguments.begin(), arguments.end());
  return runProgram(command, "", log, {{"VIZ", "0"}, {"UOPSCOPE_TRACE", ""}, {"TRACK_MATCH_STATS", "0"}});
}

} // namespace uopscope::cli
