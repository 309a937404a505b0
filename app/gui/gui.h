// Runs the window.
//
//   return runWindow({.file = "run.uoptrace", .link = "kernel=3&step=12", .screenshot = "out.png"},
//                    argc, argv);
#pragma once
#include "app/gui/window_options.h"

namespace uopscope {

/// `argc` and `argv`: of the process, for Qt. Returns the exit code: 0 fine, 2 for a bad file, link or screenshot path (reported on stderr).
int runWindow(const WindowOptions& options, int argc, char** argv);

} // namespace uopscope
