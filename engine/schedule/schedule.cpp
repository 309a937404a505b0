// createSchedule: the cache of schedules, and the scope that observers see.
#include "engine/schedule/schedule.h"

#include "engine/base/clock.h"
#include "engine/base/context_var.h"
#include "engine/base/engine_session.h"
#include "engine/base/recent.h"
#include "engine/rewrite/observer.h"
#include "engine/schedule/signature.h"
#include "engine/schedule/template.h"
#include "engine/uop/origin.h"

#include <fmt/format.h>

#include <cstdio>
#include <unordered_map>
#include <vector>

namespace uopscope {

namespace {

using namespace sched;

struct KeyHash {
  size_t operator()(const std::pair<uint64_t, uint64_t>& key) const { return key.first ^ key.second; }
};
struct CachedSchedule {
  std::vector<uint64_t> signature;
  std::shared_ptr<const ScheduleTemplate> form;
  int64_t used = 0; ///< number of the schedule that used it last
};
struct Cache {
  std::unordered_map<std::pair<uint64_t, uint64_t>, CachedSchedule, KeyHash> entries;
  int64_t schedules = 0;

  /// Drops the half that was used longest ago when the cache is full. A script with new shapes in every step
  /// thus keeps a bounded number of graphs.
  void makeRoom() {
    constexpr size_t kMaxEntries = 1024;
    if (entries.size() < kMaxEntries) return;
    auto middle = middleTime(entries, [](const auto& known) { return known.second.used; });
    std::erase_if(entries, [&](const auto& known) { return known.second.used < middle; });
  }
};
Cache& cache() {
  return EngineSession::current().part<Cache>();
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

/// Tells observers which values tensors hold: a schedule stores such a value in its own shape, so the graph alone does not
/// decide the kernels.
void tellHeld(UOp sink) {
  Observer* observer = Observer::current();
  if (!observer) return;
  constexpr OpSet kNoValues{Op::BUFFER, Op::CONST, Op::DEVICE, Op::UNIQUE, Op::LUNIQUE};
  std::vector<size_t> places;
  const auto nodes = sink.toposort();
  for (size_t k = 0; k < nodes.size(); ++k)
    if (isHeld(nodes[k]) && !nodes[k].in(kNoValues)) places.push_back(k);
  if (!places.empty()) observer->onArtifact({"held", fmt::format("[{}]", fmt::join(places, ","))});
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
    tellHeld(bigSink);
    auto form = makeTemplate(bigSink, signature);
    c.makeRoom();
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
