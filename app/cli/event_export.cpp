// Writes a whole trace as Chrome's trace events, which Perfetto and chrome://tracing open.
#include "app/cli/event_export.h"

#include "app/cli/output.h"
#include "replay/read/print.h"

#include <fmt/format.h>

namespace uopscope::cli {

namespace {
double microseconds(int64_t ns) {
  return static_cast<double>(ns) / 1000;
}
} // namespace

void writeChromeTrace(Trace& trace, std::ostream& out) {
  // Thread 1 is the compiler; each further thread is a device.
  bool first = true;
  auto event = [&](const Json& j) {
    out << (first ? "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" : ",\n") << jsonLine(j);
    first = false;
  };
  auto named = [&](int64_t thread, const std::string& name) {
    event(
        Json{{"ph", "M"}, {"pid", 1}, {"tid", thread}, {"name", "thread_name"}, {"args", {{"name", name}}}});
  };
  auto slice = [&](int64_t thread, std::string_view name, std::string_view category, int64_t begin,
                   int64_t ns, const Json& more) {
    event(Json{{"ph", "X"},
               {"pid", 1},
               {"tid", thread},
               {"name", name},
               {"cat", category},
               {"ts", microseconds(begin)},
               {"dur", microseconds(ns)},
               {"args", more}});
  };
  event(Json{{"ph", "M"},
             {"pid", 1},
             {"name", "process_name"},
             {"args", {{"name", trace.meta("script").empty() ? trace.path() : trace.meta("script")}}}});
  named(1, "compiler");
  for (const ScopeInfo& s : trace.scopes()) {
    if (!s.endNs) continue;
    slice(1, s.name, kindName(s.kind), s.beginNs, *s.endNs - s.beginNs,
          Json{{"scope", s.id}, {"steps", s.steps}, {"script", fileLine(s.script)}});
    for (const PassInfo& p : trace.passes(s.id))
      if (p.endNs)
        slice(1, p.name, "pass", p.beginNs, *p.endNs - p.beginNs,
              Json{{"pass", p.id}, {"steps", p.steps}, {"at", fileLine(p.at)}});
    for (const PhaseInfo& p : trace.phases(s.id)) slice(1, p.name, "phase", p.beginNs, p.ns, Json::object());
  }
  std::map<std::string, int64_t> devices;
  constexpr int64_t kPortion = 10000;
  for (int64_t from = 1;; from += kPortion) {
    auto launches = trace.launches(from, kPortion);
    for (const LaunchInfo& l : launches) {
      auto [it, fresh] = devices.try_emplace(l.device, static_cast<int64_t>(devices.size()) + 2);
      if (fresh) named(it->second, l.device);
      slice(it->second, l.kernel, "launch", l.beginNs, l.ns,
            Json{{"gflops", l.gflops()}, {"gb_per_s", l.gbPerSecond()}, {"kernel", l.compiled}});
    }
    if (static_cast<int64_t>(launches.size()) < kPortion) break;
  }
  int64_t inUse = 0;
  std::multimap<int64_t, int64_t> changes;
  for (const BufferInfo& b : trace.buffers()) {
    if (b.base) continue;
    changes.emplace(b.beginNs, b.bytes);
    if (b.endNs) changes.emplace(*b.endNs, -b.bytes);
  }
  for (auto [at, bytes] : changes)
    event(Json{{"ph", "C"},
               {"pid", 1},
               {"name", "memory"},
               {"ts", microseconds(at)},
               {"args", {{"bytes", inUse += bytes}}}});
  for (const OutputInfo& o : trace.outputs())
    event(Json{{"ph", "i"},
               {"pid", 1},
               {"tid", 1},
               {"s", "t"},
               {"name", o.text},
               {"cat", o.stream},
               {"ts", microseconds(o.atNs)}});
  out << "\n]}\n";
}

} // namespace uopscope::cli
