// Which stored values are computed by one kernel with several outputs.
//
//   out1 = a+b+c; out2 = a+b+d     one kernel: 4 reads, 2 writes, a+b computed once
//
// Values are grouped when they have the same shape and device and share, through elementwise operations
// alone, a computation or a read of at least half their size. No kernel may wait for itself: a value's level
// counts the reductions, movements and transfers below it, and only values of one level are grouped, so a
// path from one member to another never leaves the group.
#pragma once
#include "engine/base/id_map.h"
#include "engine/schedule/passes.h"

namespace uopscope::sched {

class OutputGroups {
public:
  /// `order`: the graph in topological order; `realize`: values that get memory in any case.
  OutputGroups(const std::vector<UOp>& order, const UOpMap<bool>& realize);

  /// Number of the group of a value, -1: alone.
  int groupOf(UOp u) {
    int* g = group_.find(u.slot());
    return g ? *g : -1;
  }
  /// Whether a value can be one of several outputs: not a transfer, not a copy that keeps old contents.
  static bool canShareLoops(UOp u);
  int levelOf(UOp u) {
    int* l = level_.find(u.slot());
    return l ? *l : 0;
  }

private:
  IdMap<int> group_, level_;
};

} // namespace uopscope::sched
