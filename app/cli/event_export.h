// Writes a whole trace in a form for other programs.
//
//   writeChromeTrace(trace, file);     // opens in ui.perfetto.dev and chrome://tracing
#pragma once
#include "app/cli/cli.h"

#include <ostream>

namespace uopscope::cli {

void writeChromeTrace(Trace& trace, std::ostream& out);

} // namespace uopscope::cli
