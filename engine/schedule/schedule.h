// From a tensor graph to kernels in order.
//
//   Schedule s = createSchedule(UOp::sink(outputs));      // current pool: the tensor pool
//   for (ScheduleItem& item : s.items) run(item);
//   for (auto& [old, now] : s.becomes) ...                // tensors that computed `old` now read buffer
//   `now`
//
// Kernel graphs live in pools of their own. Schedules are cached by the structure of the graph, with buffers
// numbered and values of bound variables stripped, so the same computation on other buffers is not scheduled
// again.
#pragma once
#include "engine/rewrite/driver.h"

#include <memory>

namespace uopscope {

struct ScheduleItem {
  UOp ast; ///< SINK of the kernel (DEFINE_GLOBAL i is buffers[i]); or COPY / BUFFER_VIEW for transfers
  std::shared_ptr<Pool> pool;        ///< owns ast
  std::vector<UOpRef> buffers;       ///< BUFFERs (or BUFFER_VIEWs of them) of the tensor pool, outputs first
  std::vector<std::string> metadata; ///< tensor operations it computes ("conv2d", "relu"), for DEBUG lines
  SourceLocation script;             ///< script line of the first of them, if known
};

struct Schedule {
  std::vector<ScheduleItem> items;
  std::vector<std::pair<UOpRef, UOpRef>>
      becomes; ///< node of the tensor pool -> BUFFER view (with movement ops) that holds it
  std::vector<std::pair<std::string, int64_t>> vars; ///< bound variables by name
  bool cacheHit = false;
};

Schedule createSchedule(UOp bigSink);
/// Drops all cached schedules.
void clearScheduleCache();
/// How many are kept.
size_t scheduleCacheSize();

} // namespace uopscope
