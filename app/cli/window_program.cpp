// The verb open, and whatever else shows the window: the options become the argument of the program uopscope-window.
#include "app/cli/cli.h"
#include "app/cli/replay_command.h"
#include "app/gui/window_options.h"
#include "engine/base/child_process.h"
#include "engine/base/error.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace uopscope::cli {

#ifdef UOPSCOPE_HAVE_WINDOW

namespace {

bool isMove(const std::string& at) {
  return at == "wait" || at.starts_with("do=") || at.starts_with("click=") || at.starts_with("double=") ||
         at.starts_with("type=");
}

WindowOptions windowOptions(const OpenOptions& o) {
  WindowOptions window;
  window.file = o.file;
  // Moves are made in a state that is there: a trace at its first place, or two files side by side.
  const bool begins = !o.links.empty() && o.compare.empty() && !isMove(o.links.front());
  if (begins) window.link = o.links.front();
  window.moves.assign(o.links.begin() + begins, o.links.end());
  if (o.screenshot.empty() && !window.moves.empty())
    throw Error(ErrorKind::Value, "several --at, and --at do=..., click=... or type=..., are moves of a "
                                  "film: name it with --screenshot FILE.gif");
  window.compare = o.compare;
  window.ignoreNames = o.ignoreNames;
  window.screenshot = o.screenshot;
  window.theme = o.theme;
  window.steps = o.steps;
  window.seconds = o.seconds;
  if (o.width > 0) window.width = o.width;
  if (o.height > 0) window.height = o.height;
  window.program = selfPath();
  return window;
}

} // namespace

int open(const OpenOptions& o, bool takesOver) {
  WindowOptions window = windowOptions(o);
  window.isChild = !takesOver;
  const std::string options = textOf(window), program = companionProgram("uopscope-window");
  if (!takesOver) return runProgram({program, options}, "", "");
  std::fflush(nullptr);
  execl(program.c_str(), "uopscope", options.c_str(), nullptr);
  throw Error(ErrorKind::Runtime, fmt::format("{} cannot be started: {}", program, strerror(errno)));
}

#else

int open(const OpenOptions&, bool) {
  throw Error(
      ErrorKind::Unsupported,
      "this uopscope was built without the window; uopscope --help lists the verbs of the command line");
}

#endif

} // namespace uopscope::cli
