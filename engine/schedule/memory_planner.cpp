// Allocation in one arena per device: free blocks are kept in a list and joined when they are released.
#include "engine/schedule/memory_planner.h"

#include <algorithm>

namespace uopscope::sched {

namespace {

constexpr int64_t kAlign = 256;

class Arena {
public:
  int64_t take(int64_t bytes) {
    // Best fit: large blocks stay whole for large buffers.
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it)
      if (it->second >= bytes && (best == free_.end() || it->second < best->second)) best = it;
    if (best != free_.end()) {
      auto [at, size] = *best;
      free_.erase(best);
      if (size > bytes) free_[at + bytes] = size - bytes;
      return at;
    }
    // The last block grows if it is free.
    int64_t at = end_;
    if (!free_.empty() && free_.rbegin()->first + free_.rbegin()->second == end_) {
      at = free_.rbegin()->first;
      free_.erase(at);
    }
    end_ = at + bytes;
    return at;
  }
  void give(int64_t at, int64_t bytes) {
    auto it = free_.emplace(at, bytes).first;
    if (auto after = std::next(it); after != free_.end() && at + it->second == after->first) {
      it->second += after->second;
      free_.erase(after);
    }
    if (it != free_.begin())
      if (auto before = std::prev(it); before->first + before->second == at) {
        before->second += it->second;
        free_.erase(it);
      }
  }
  int64_t bytes() const { return end_; }

private:
  std::map<int64_t, int64_t> free_;
  int64_t end_ = 0;
};

} // namespace

MemoryPlan planMemory(std::span<const Lifetime> lifetimes) {
  struct Event {
    size_t time;
    bool opens;
    size_t index;
  };
  std::vector<Event> events;
  for (size_t k = 0; k < lifetimes.size(); ++k) {
    events.push_back({lifetimes[k].first, true, k});
    events.push_back({lifetimes[k].last + 1, false, k});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tuple(a.time, a.opens, a.index) < std::tuple(b.time, b.opens, b.index);
  });
  MemoryPlan plan;
  plan.offsets.resize(lifetimes.size());
  std::map<std::string, Arena> arenas;
  for (const Event& e : events) {
    const Lifetime& life = lifetimes[e.index];
    int64_t bytes = (std::max<int64_t>(life.bytes, 1) + kAlign - 1) / kAlign * kAlign;
    Arena& arena = arenas[life.device];
    if (e.opens)
      plan.offsets[e.index] = arena.take(bytes);
    else
      arena.give(plan.offsets[e.index], bytes);
  }
  for (const auto& [device, arena] : arenas) plan.arenaBytes[device] = arena.bytes();
  return plan;
}

} // namespace uopscope::sched
