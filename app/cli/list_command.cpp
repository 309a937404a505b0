// uopscope ls TRACE [KERNEL [PASS]]: what is in a trace, one level at a time.
#include "app/cli/output.h"
#include "replay/read/print.h"

#include <fmt/format.h>

namespace uopscope::cli {

namespace {

std::string_view kindName(ScopeKind kind) {
  switch (kind) {
  case ScopeKind::Script: return "script";
  case ScopeKind::Schedule: return "schedule";
  case ScopeKind::Kernel: return "kernel";
  default: return "other";
  }
}
std::string_view outcomeName(const PassInfo& pass) {
  if (!pass.outcome) return "not ended";
  return *pass.outcome == PassOutcome::Done     ? "done"
         : *pass.outcome == PassOutcome::Failed ? "failed"
                                                : "stopped";
}
int depthOf(const Trace& trace, const ScopeInfo& scope) {
  int depth = 0;
  for (ScopeId at = scope.parent; at; at = trace.scope(at).parent) ++depth;
  return depth;
}

int listScopes(Trace& trace, const LookOptions& o) {
  if (o.json) {
    Json out;
    Json meta = Json::object();
    for (const auto& [key, value] : trace.meta()) meta[key] = value;
    out["meta"] = meta;
    out["warning"] = trace.warning();
    out["scopes"] = Json::array();
    for (const ScopeInfo& s : trace.scopes()) {
      Json j{{"id", s.id},       {"parent", s.parent},           {"kind", kindName(s.kind)},
             {"name", s.name},   {"script", fileLine(s.script)}, {"root", s.root},
             {"steps", s.steps}, {"total_steps", s.totalSteps},  {"begin_ns", s.beginNs}};
      j["end_ns"] = s.endNs ? Json(*s.endNs) : Json();
      out["scopes"].push_back(j);
    }
    printJson(out);
    return kFine;
  }
  int64_t kernels = 0, steps = 0;
  for (const ScopeInfo& s : trace.scopes()) {
    kernels += s.kind == ScopeKind::Kernel;
    steps += s.steps;
  }
  for (const PassInfo& p : trace.passes(0)) steps += p.steps;
  fmt::print("{}  tier {}, {}, {} kernels, {} steps\n",
             trace.meta("script").empty() ? trace.path() : trace.meta("script"), trace.meta("tier"),
             trace.status(), grouped(kernels), grouped(steps));
  Table table({"#", "kind", "name", "steps", "time", "script line"});
  for (const ScopeInfo& s : trace.scopes())
    table.add({fmt::format("{}", s.id), std::string(kindName(s.kind)),
               std::string(static_cast<size_t>(depthOf(trace, s)) * 2, ' ') + s.name,
               grouped(s.kind == ScopeKind::Script ? s.totalSteps : s.steps),
               s.endNs ? duration(*s.endNs - s.beginNs) : "not ended", fileLine(s.script)});
  if (table.size()) table.print();
  if (!trace.passes(0).empty())
    fmt::print("{} passes ran outside any kernel or schedule: uopscope ls {} 0\n", trace.passes(0).size(),
               trace.path());
  return kFine;
}

int listPasses(Trace& trace, ScopeId scope, const LookOptions& o) {
  const auto& passes = trace.passes(scope);
  if (o.json) {
    Json out = Json::array();
    for (size_t k = 0; k < passes.size(); ++k) {
      const PassInfo& p = passes[k];
      Json j{{"number", k + 1},
             {"id", p.id},
             {"parent", p.parent},
             {"parent_steps", p.parentSteps},
             {"depth", p.depth},
             {"name", p.name},
             {"at", fileLine(p.at)},
             {"root", p.root},
             {"end_root", p.endRoot},
             {"steps", p.steps},
             {"nested_steps", p.nestedSteps},
             {"outcome", outcomeName(p)},
             {"message", p.message},
             {"begin_ns", p.beginNs}};
      j["end_ns"] = p.endNs ? Json(*p.endNs) : Json();
      out.push_back(j);
    }
    printJson(out);
    return kFine;
  }
  Table table({"#", "pass", "steps", "nested", "time", "outcome", "called from"});
  for (size_t k = 0; k < passes.size(); ++k) {
    const PassInfo& p = passes[k];
    std::string name = std::string(static_cast<size_t>(p.depth) * 2, ' ') + p.name;
    table.add({fmt::format("{}", k + 1), name, grouped(p.steps), p.nestedSteps ? grouped(p.nestedSteps) : "",
               p.endNs ? duration(*p.endNs - p.beginNs) : "", std::string(outcomeName(p)), fileLine(p.at)});
  }
  table.print();
  return kFine;
}

int listSteps(Trace& trace, PassId pass, const LookOptions& o) {
  int64_t limit = o.limit > 0 ? o.limit : INT64_MAX;
  auto steps = trace.steps(pass, 1, limit);
  auto read = trace.nodes().reader();
  auto text = [&](NodeId id) { return id ? expression(read, id, 3, 60) : std::string("REWRITE_ERROR"); };
  if (o.json) {
    Json out = Json::array();
    for (const StepInfo& s : steps) {
      Json j{{"k", s.k},
             {"id", s.id},
             {"rule", trace.rule(s.rule).name},
             {"at", fileLine(trace.rule(s.rule).at)},
             {"before", s.before},
             {"after", s.after},
             {"way", s.kind == StepKind::WayUp     ? "up"
                     : s.kind == StepKind::WayDown ? "down"
                                                   : "error"},
             {"before_text", text(s.before)},
             {"after_text", text(s.after)},
             {"took_ns", s.ns}};
      if (s.kind == StepKind::RewriteError) j["message"] = trace.stepMessage(s.id);
      out.push_back(j);
    }
    printJson(out);
    return kFine;
  }
  Table table({"step", "rule", "time", "before -> after"});
  for (const StepInfo& s : steps)
    table.add({fmt::format("{}", s.k), trace.rule(s.rule).name, duration(s.ns),
               s.kind == StepKind::RewriteError
                   ? fmt::format("{} -> REWRITE_ERROR: {}", text(s.before), trace.stepMessage(s.id))
                   : fmt::format("{} -> {}", text(s.before), text(s.after))});
  table.print();
  int64_t all = trace.pass(pass).steps;
  if (all > static_cast<int64_t>(steps.size()))
    fmt::print("{} of {} steps shown; --limit 0 shows all\n", steps.size(), grouped(all));
  return kFine;
}

} // namespace

int list(const LookOptions& o) {
  Trace trace(o.trace);
  warnAbout(trace);
  if (o.kernel.empty()) return listScopes(trace, o);
  ScopeId scope = o.kernel == "0" ? 0 : trace.findScope(o.kernel);
  if (o.pass.empty()) return listPasses(trace, scope, o);
  return listSteps(trace, trace.findPass(scope, o.pass), o);
}

} // namespace uopscope::cli
