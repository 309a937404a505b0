// createSchedule: the cache, and the scope that observers see.
#include "engine/schedule/schedule.h"

#include "engine/base/clock.h"
#include "engine/base/context_var.h"
#include "engine/schedule/template.h"
#include "engine/uop/origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <unordered_map>

namespace uopscope {

namespace {

using namespace sched;

struct KeyHash {
  size_t operator()(const std::pair<uint64_t, uint64_t>& key) const { return key.first ^ key.second; }
};
struct CachedSchedule {
  std::vector<uint64_t> signature;
  std::shared_ptr<const ScheduleTemplate> form;
  int64_t used = 0; ///< the schedule that it last served
};
/// Of one thread, as tensors are.
struct Cache {
  std::unordered_map<std::pair<uint64_t, uint64_t>, CachedSchedule, KeyHash> entries;
  int64_t schedules = 0;
};
constexpr size_t kMostSchedules = 4096;

/// Drops the half that served longest ago where there are too many. A schedule that runs holds its kernels.
void makeRoom(Cache& c) {
  if (c.entries.size() < kMostSchedules) return;
  std::vector<int64_t> times;
  for (auto& [key, entry] : c.entries) times.push_back(entry.used);
  auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  std::erase_if(c.entries, [&](auto& known) { return known.second.used < *middle; });
}
Cache& cache() {
  static thread_local Cache c;
  return c;
}

SourceLocation scriptLine(UOp sink) {
  for (UOp s : sink.src())
    for (UOp u = s;; u = u.src(0)) {
      if (const NodeOrigin* o = originOf(u)) return {o->file, o->line};
      if (!u.in(group::kMovement)) break;
    }
  return {};
}

void printSummary(const Schedule& schedule, int64_t ns, std::pair<uint64_t, uint64_t> key) {
  if (!(vars::debug >= 3 || (vars::debug >= 1 && schedule.items.size() > 1))) return;
  fmt::print("scheduled {:4d} kernels in {:8.2f} ms | {} {:08x}\n", schedule.items.size(),
             static_cast<double>(ns) * 1e-6, schedule.cacheHit ? " cache hit" : "CACHE MISS",
             key.first >> 32);
}

} // namespace

Schedule createSchedule(UOp bigSink) {
  int64_t start = nowNs();
  Cache& c = cache();
  std::string name = fmt::format("schedule {}", ++c.schedules);
  ObservedScope scope({ScopeKind::Schedule, name, scriptLine(bigSink), bigSink});
  Signature signature = signatureOf(bigSink);
  auto key = signature.key();
  auto it = c.entries.find(key);
  bool hit = it != c.entries.end() && it->second.signature == signature.words;
  if (!hit) {
    auto form = makeTemplate(bigSink, signature);
    makeRoom(c);
    it = c.entries.insert_or_assign(key, CachedSchedule{signature.words, std::move(form)}).first;
  }
  it->second.used = c.schedules;
  Schedule schedule = instantiate(*it->second.form, signature);
  schedule.cacheHit = hit;
  printSummary(schedule, nowNs() - start, key);
  return schedule;
}

size_t scheduleCacheSize() {
  return cache().entries.size();
}

void clearScheduleCache() {
  cache().entries.clear();
  cache().schedules = 0;
}

} // namespace uopscope
