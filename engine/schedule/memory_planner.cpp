// Two plans for the arena of a device. In order of time, a buffer takes the free block that fits best, which is most
// likely still in a cache. Where that leaves gaps, buffers are placed from the largest to the smallest instead,
// each in the narrowest gap between those that live with it, and the smallest arena is kept.
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

int64_t rounded(const Lifetime& life) {
  return (std::max<int64_t>(life.bytes, 1) + kAlign - 1) / kAlign * kAlign;
}

using LifetimeIndices = std::vector<size_t>;

/// The bytes that live together at the worst time: no plan needs fewer.
int64_t mostTogether(std::span<const Lifetime> lives, const LifetimeIndices& of) {
  std::map<size_t, int64_t> change;
  for (size_t k : of)
    change[lives[k].first] += rounded(lives[k]), change[lives[k].last + 1] -= rounded(lives[k]);
  int64_t now = 0, most = 0;
  for (const auto& [time, bytes] : change) most = std::max(most, now += bytes);
  return most;
}

int64_t placeByTime(std::span<const Lifetime> lives, const LifetimeIndices& of,
                    std::vector<int64_t>& offsets) {
  struct Event {
    size_t time;
    bool opens;
    size_t index;
  };
  std::vector<Event> events;
  for (size_t k : of) {
    events.push_back({lives[k].first, true, k});
    events.push_back({lives[k].last + 1, false, k});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tuple(a.time, a.opens, a.index) < std::tuple(b.time, b.opens, b.index);
  });
  Arena arena;
  for (const Event& e : events)
    if (e.opens)
      offsets[e.index] = arena.take(rounded(lives[e.index]));
    else
      arena.give(offsets[e.index], rounded(lives[e.index]));
  return arena.bytes();
}

using Weight = double (*)(const Lifetime&);

int64_t placeByWeight(std::span<const Lifetime> lives, LifetimeIndices of, Weight weight,
                      std::vector<int64_t>& offsets) {
  std::sort(of.begin(), of.end(), [&](size_t a, size_t b) {
    return std::tuple(-weight(lives[a]), lives[a].first, a) <
           std::tuple(-weight(lives[b]), lives[b].first, b);
  });
  int64_t arena = 0;
  LifetimeIndices byOffset;
  for (size_t k : of) {
    int64_t bytes = rounded(lives[k]), from = 0, best = -1, narrowest = 0;
    for (size_t other : byOffset) {
      if (lives[k].first > lives[other].last || lives[other].first > lives[k].last) continue;
      int64_t gap = offsets[other] - from;
      if (gap >= bytes && (best < 0 || gap < narrowest)) best = from, narrowest = gap;
      from = std::max(from, offsets[other] + rounded(lives[other]));
    }
    offsets[k] = best < 0 ? from : best;
    arena = std::max(arena, offsets[k] + bytes);
    auto after = [&](int64_t offset, size_t other) { return offset < offsets[other]; };
    byOffset.insert(std::upper_bound(byOffset.begin(), byOffset.end(), offsets[k], after), k);
  }
  return arena;
}

/// Bytes, and bytes over time.
constexpr Weight kWeights[] = {
    [](const Lifetime& l) { return static_cast<double>(l.bytes); },
    [](const Lifetime& l) {
      return static_cast<double>(l.bytes) * static_cast<double>(l.last - l.first + 1);
    },
};

} // namespace

MemoryPlan planMemory(std::span<const Lifetime> lifetimes) {
  std::map<std::string, LifetimeIndices> byDevice;
  for (size_t k = 0; k < lifetimes.size(); ++k) byDevice[lifetimes[k].device].push_back(k);
  MemoryPlan plan;
  plan.offsets.resize(lifetimes.size());
  for (const auto& [device, of] : byDevice) {
    int64_t bytes = placeByTime(lifetimes, of, plan.offsets);
    if (bytes > mostTogether(lifetimes, of)) {
      for (Weight weight : kWeights) {
        std::vector<int64_t> offsets(lifetimes.size());
        int64_t other = placeByWeight(lifetimes, of, weight, offsets);
        if (other >= bytes) continue;
        bytes = other;
        for (size_t k : of) plan.offsets[k] = offsets[k];
      }
    }
    plan.arenaBytes[device] = bytes;
  }
  return plan;
}

} // namespace uopscope::sched
