// The program uopscope-window: the window alone. `uopscope open` starts it; window_options.h is what they say to each other.
#include "app/gui/gui.h"
#include "engine/base/process_memory.h"

#include <sys/prctl.h>

#include <csignal>
#include <cstdio>

int main(int argc, char** argv) {
  uopscope::giveBackStartupPages();
  uopscope::WindowOptions options;
  try {
    if (argc != 2) throw std::invalid_argument("one argument");
    options = uopscope::optionsOf(argv[1]);
  } catch (const std::exception&) {
    std::fputs("uopscope-window: start the window by: uopscope open FILE\n", stderr);
    return 2;
  }
  if (options.isChild) prctl(PR_SET_PDEATHSIG, SIGTERM);
  return uopscope::runWindow(options, argc, argv);
}
