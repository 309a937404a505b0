// Chooses groups of stored values that one kernel with several outputs computes.
//
//   out1 = a+b+c; out2 = a+b+d     one kernel: 4 reads, 2 writes, a+b computed once
//
// Values are grouped if they have the same shape and device, and if elementwise operations alone lead from
// both to a common computation or read of at least half their size. No kernel may wait for itself. The level
// of a value counts the reductions, movements and transfers below it. Only values of one level are grouped,
// so a path from one member to another never leaves the group.
#pragma once
#include "engine/base/id_map.h"
#include "engine/schedule/passes.h"

namespace uopscope::sched {

class OutputGroups {
public:
  /// `order` is the graph in topological order; `realize` holds the values that certainly get memory.
  OutputGroups(const std::vector<UOp>& order, const UOpMap<bool>& realize);

  /// The number of the value's group, -1 if it is in none.
  int groupOf(UOp u) {
    int* g = group_.find(u.slot());
    return g ? *g : -1;
  }
  /// Whether the value may be one of several outputs of a kernel. Transfers and copies of old contents may
  /// not, and neither may a sum that a loop carries.
  static bool canShareLoops(UOp u);
  int levelOf(UOp u) {
    int* l = level_.find(u.slot());
    return l ? *l : 0;
  }

private:
  IdMap<int> group_, level_;
};

} // namespace uopscope::sched
