// Memory planner: intermediate buffers that are never needed at the same time share memory.
//
//   plan({{"CPU", 4096, 0, 3}, {"CPU", 1024, 4, 6}})   both at offset 0 of one arena
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace uopscope::sched {

/// A buffer's size and lifetime: from the first to the last kernel that uses it, both included.
struct Lifetime {
  std::string device;
  int64_t bytes = 0;
  size_t first = 0, last = 0;
};

struct MemoryPlan {
  std::vector<int64_t> offsets;              ///< offset in the arena of its device, by lifetime
  std::map<std::string, int64_t> arenaBytes; ///< size of the arena, by device
};

/// Places buffers in order of time. Offsets are multiples of 256.
MemoryPlan planMemory(std::span<const Lifetime> lifetimes);

} // namespace uopscope::sched
