// The window, as the command line starts it: `uopscope [open] [FILE] [--at LINK] [--screenshot OUT.png]`.
//
//   return runWindow({.file = "run.uoptrace", .link = "kernel=3&step=12", .screenshot = "out.png"}, argc,
//   argv);
#pragma once
#include <string>
#include <vector>

namespace uopscope {

struct WindowOptions {
  std::string file;                 ///< a script or a trace; empty: the first page
  std::vector<std::string> compare; ///< two corpora or traces to compare instead
  bool ignoreNames = false;         ///< numbering of names is no change
  std::string link;                 ///< where to go in it
  std::string screenshot;           ///< a PNG to write; then no display is needed and the program ends
  int width = 0, height = 0;        ///< 0: as it was when it was last open
  std::string theme;                ///< "dark", "light", "system"; empty: what was chosen last
  double textScale = 0;             ///< 0: what was chosen last
};

/// Returns the exit code: 0 fine, 2 the file, the link or the screenshot's path is no good (said on stderr).
int runWindow(const WindowOptions& options, int argc, char** argv);

} // namespace uopscope
