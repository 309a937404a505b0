// A whole trace for other programs: Chrome's trace events (which Perfetto and chrome://tracing open), and
// JSON lines.
#include "app/cli/event_export.h"

#include "app/cli/output.h"
#include "replay/read/print.h"

#include <fmt/format.h>

namespace uopscope::cli {

namespace {
std::string line(const Json& j) {
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}
std::string_view kindName(ScopeKind kind) {
  switch (kind) {
  case ScopeKind::Script: return "script";
  case ScopeKind::Schedule: return "schedule";
  case ScopeKind::Kernel: return "kernel";
  default: return "other";
  }
}
double microseconds(int64_t ns) {
  return static_cast<double>(ns) / 1000;
}
} // namespace

void writeChromeTrace(Trace& trace, std::ostream& out) {
  // Thread 1 is the compiler, further ones are devices.
  bool first = true;
  auto event = [&](const Json& j) {
    out << (first ? "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" : ",\n") << line(j);
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

void writeJsonLines(Trace& trace, std::ostream& out) {
  Json meta{{"type", "trace"}};
  for (const auto& [key, value] : trace.meta()) meta[key] = value;
  out << line(meta) << '\n';
  for (const RuleInfo& r : trace.rules())
    out << line(Json{
               {"type", "rule"}, {"id", r.id}, {"name", r.name}, {"at", fileLine(r.at)}, {"text", r.text}})
        << '\n';
  for (NodeId id = 1, last = trace.nodes().count(); id <= last; ++id) {
    NodeFields n = trace.nodes().fields(id);
    Json j{{"type", "node"}, {"id", id}, {"op", opName(n.op)}, {"dtype", n.dtype.name()}};
    if (n.arg) j["arg"] = n.arg.encode();
    if (n.tag) j["tag"] = n.tag.encode();
    j["src"] = Json::array();
    for (NodeId s : n.src) j["src"].push_back(s);
    out << line(j) << '\n';
  }
  auto passesOf = [&](ScopeId scope) {
    for (const PassInfo& p : std::vector<PassInfo>(trace.passes(scope))) {
      out << line(Json{{"type", "pass"},
                       {"id", p.id},
                       {"scope", p.scope},
                       {"parent", p.parent},
                       {"parent_steps", p.parentSteps},
                       {"name", p.name},
                       {"at", fileLine(p.at)},
                       {"root", p.root},
                       {"end_root", p.endRoot},
                       {"begin_ns", p.beginNs},
                       {"message", p.message}})
          << '\n';
      for (const StepInfo& s : trace.steps(p.id))
        out << line(Json{{"type", "step"},
                         {"id", s.id},
                         {"pass", p.id},
                         {"rule", s.rule},
                         {"before", s.before},
                         {"after", s.after},
                         {"kind", static_cast<int>(s.kind)},
                         {"took_ns", s.ns}})
            << '\n';
    }
  };
  passesOf(0);
  for (const ScopeInfo& s : trace.scopes()) {
    out << line(Json{{"type", "scope"},
                     {"id", s.id},
                     {"parent", s.parent},
                     {"kind", kindName(s.kind)},
                     {"name", s.name},
                     {"script", fileLine(s.script)},
                     {"root", s.root},
                     {"begin_ns", s.beginNs}})
        << '\n';
    passesOf(s.id);
    for (const ArtifactInfo& a : trace.artifacts(s.id))
      out << line(Json{
                 {"type", "text"}, {"scope", s.id}, {"kind", a.kind}, {"text", trace.artifactText(a.id)}})
          << '\n';
  }
  for (const LaunchInfo& l : trace.launches())
    out << line(Json{{"type", "launch"},
                     {"id", l.id},
                     {"scope", l.scope},
                     {"kernel", l.kernel},
                     {"device", l.device},
                     {"flops", l.flops},
                     {"bytes", l.bytes},
                     {"begin_ns", l.beginNs},
                     {"took_ns", l.ns}})
        << '\n';
}

} // namespace uopscope::cli
