// The numbers stand in the reasons of decisions: "it is stored once; FLIP=58689792 computes it again in its readers".
#include "app/cli/record_flip.h"

#include <fmt/format.h>

#include <cstdio>

namespace uopscope::cli {

void lookForFlip(Trace& trace, int64_t flip) {
  if (!flip) return;
  Statement met = trace.database().prepare("SELECT count(*) FROM v_decision WHERE reason LIKE ?");
  met.bind(1, fmt::format("%FLIP={} %", flip));
  if (!met.step() || met.integer(0) > 0) return;
  fmt::print(
      stderr,
      "uopscope: --flip {}: no choice of this script has that number; uopscope query TRACE \"SELECT reason "
      "FROM v_decision WHERE reason LIKE '%FLIP%'\" lists them\n",
      flip);
}

} // namespace uopscope::cli
