// Scheduling: from a tensor graph to an ordered list of kernels.
//
//   Schedule s = createSchedule(UOp::sink(outputs));      // current pool: the tensor pool
//   for (ScheduleItem& item : s.items) run(item);
//   for (auto& [old, now] : s.becomes) ...                // tensors that computed `old` now read `now`
//
// Kernel graphs live in pools of their own. The cache of schedules compares the structure of graphs: buffers
// are numbered, and values of bound variables are left out. The same computation on different buffers is
// therefore not scheduled again.
#pragma once
#include "engine/rewrite/driver.h"

#include <memory>

namespace uopscope {

struct ScheduleItem {
  UOp ast; ///< SINK of the kernel (DEFINE_GLOBAL i is buffers[i]); COPY or BUFFER_VIEW for transfers
  std::shared_ptr<Pool> pool;        ///< owns ast
  std::vector<UOpRef> buffers;       ///< BUFFERs (or BUFFER_VIEWs of them) of the tensor pool, outputs first
  std::vector<std::string> metadata; ///< its tensor operations ("conv2d", "relu"), for DEBUG lines
  SourceLocation script;             ///< script line of the first of these operations, if known
};

struct Schedule {
  std::vector<ScheduleItem> items;
  std::vector<std::pair<UOpRef, UOpRef>>
      becomes; ///< node of the tensor pool -> view of the BUFFER that holds its value
  std::vector<std::pair<std::string, int64_t>> vars; ///< bound variables by name
  bool cacheHit = false;
};

Schedule createSchedule(UOp bigSink);
/// Drops all cached schedules.
void clearScheduleCache();
/// The number of cached schedules.
size_t scheduleCacheSize();

} // namespace uopscope
