// Walks from reader to what it reads.
#include "engine/schedule/kernel_order.h"

#include <vector>

namespace uopscope::sched {

bool KernelOrder::waitsFor(int kernel, int other) const {
  std::set<int> seen{kernel};
  std::vector<int> stack{kernel};
  while (!stack.empty()) {
    const int at = stack.back();
    stack.pop_back();
    const auto reads = reads_.find(at);
    if (reads == reads_.end()) continue;
    for (const int from : reads->second) {
      if (from == other || seen.size() > kMostSteps) return true;
      if (seen.insert(from).second) stack.push_back(from);
    }
  }
  return false;
}

} // namespace uopscope::sched
