// Runs the window for the command line: `uopscope [open] [FILE] [--at LINK] [--screenshot OUT.png]`.
//
//   return runWindow({.file = "run.uoptrace", .link = "kernel=3&step=12", .screenshot = "out.png"},
//                    argc, argv);
#pragma once
#include <string>
#include <vector>

namespace uopscope {

struct WindowOptions {
  std::string file;                 ///< a script or a trace; empty: the first page
  std::vector<std::string> compare; ///< two corpora or traces to compare instead
  bool ignoreNames = false;         ///< a different numbering of names is no change
  std::string link;                 ///< the state to show
  std::vector<std::string> moves;   ///< made there, one after the other (film.h)
  /// Path of a picture; no display is needed, and the program ends. .png: the state after the moves; .gif, .mp4: a film
  /// of the state and the moves, or of `steps` steps; .html: the bookmarks of the trace as slides.
  std::string screenshot;
  int steps = 20;
  double seconds = 0;        ///< of a film; 0: a second a step, two a move
  int width = 0, height = 0; ///< 0: the size of the last window
  std::string theme;         ///< "dark", "light", "system"; empty: the last choice
  double textScale = 0;      ///< 0: the last choice
};

/// Returns the exit code: 0 fine, 2 for a bad file, link or screenshot path (reported on stderr).
int runWindow(const WindowOptions& options, int argc, char** argv);

} // namespace uopscope
