// `record --flip N`: whether the recording has a choice of that number.
//
//   lookForFlip(trace, 58689792);
#pragma once
#include "replay/read/trace.h"

namespace uopscope::cli {

/// Prints a line to the standard error where no decision of the trace has the number; nothing for 0.
void lookForFlip(Trace& trace, int64_t flip);

} // namespace uopscope::cli
