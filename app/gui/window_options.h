// What the command line asks of the window. The window is a program of its own, uopscope-window: Qt takes 24 MB and 12 ms
// of every process that is linked to it, and a script needs neither. The options travel as its one argument, in JSON.
//
//   WindowOptions o{.file = "run.uoptrace", .link = "kernel=3&step=12", .screenshot = "out.png"};
//   textOf(o)                        // {"file":"run.uoptrace", ...}, which optionsOf() reads
#pragma once
#include <nlohmann/json.hpp>
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
  bool isChild = false;      ///< the window closes when the process that started it is gone
  std::string program;       ///< path of uopscope, which records scripts and runs replays for the window
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WindowOptions, file, compare, ignoreNames, link, moves, screenshot, steps,
                                   seconds, width, height, theme, isChild, program)

/// Bytes of a path that are no UTF-8 become U+FFFD, as no text on a page could hold them.
inline std::string textOf(const WindowOptions& options) {
  return nlohmann::json(options).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}
/// Throws nlohmann::json::exception for a text that textOf() does not write.
inline WindowOptions optionsOf(const std::string& text) {
  return nlohmann::json::parse(text).get<WindowOptions>();
}

} // namespace uopscope
