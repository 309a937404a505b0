// Asks the system which cores this process may use: a system call of less than a microsecond.
#include "engine/base/cpu_count.h"

#include "engine/base/context_var.h"

#include <sched.h>

#include <thread>

namespace uopscope {

int cpuCount() {
  if (int64_t wanted = vars::cpuCount; wanted > 0) return static_cast<int>(wanted);
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
  const unsigned n = std::thread::hardware_concurrency();
  return n ? static_cast<int>(n) : 1;
}

} // namespace uopscope
