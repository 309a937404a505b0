// Running a schedule: its kernels, copies and views, in order.
//
//   Schedule s = scheduleOf(sink);  runSchedule(s);
#pragma once
#include "engine/schedule/schedule.h"

namespace uopscope {

/// Lowers, renders and compiles (all cached) and runs every item in order, with DEBUG output and observer
/// events.
void runSchedule(Schedule& schedule);

} // namespace uopscope
