// uopscope ls TRACE [KERNEL [PASS]]: lists the content of a trace, one level at a time. Registers are in
// registers_command.cpp.
#include "app/cli/output.h"
#include "app/cli/predicted_columns.h"
#include "app/cli/trace_folder.h"
#include "replay/read/node_search.h"
#include "replay/read/print.h"
#include "replay/schema/quantity_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <span>

namespace uopscope::cli {

namespace {

std::string_view outcomeName(const PassInfo& pass) {
  if (!pass.outcome) return "not ended";
  return *pass.outcome == PassOutcome::Done     ? "done"
         : *pass.outcome == PassOutcome::Failed ? "failed"
                                                : "stopped";
}
bool failedIn(Trace& trace, ScopeId scope) {
  return std::ranges::any_of(trace.passes(scope),
                             [](const PassInfo& p) { return p.outcome != PassOutcome::Done; });
}
int depthOf(const Trace& trace, const ScopeInfo& scope) {
  int depth = 0;
  for (ScopeId at = scope.parent; at; at = trace.scope(at).parent) ++depth;
  return depth;
}

bool hasName(const std::string& text, const LookOptions& o) {
  return o.name.empty() || text.find(o.name) != std::string::npos;
}

/// The wanted elements in the requested order; `steps` and `ns` give the sort keys of an element.
template <typename T, typename Steps, typename Ns>
std::vector<T> chosen(const std::vector<T>& all, const LookOptions& o,
                      const std::function<bool(const T&)>& wanted, Steps steps, Ns ns) {
  std::vector<T> out;
  std::ranges::copy_if(all, std::back_inserter(out), wanted);
  if (o.sort == "steps")
    std::ranges::stable_sort(out, [&](const T& a, const T& b) { return steps(a) > steps(b); });
  if (o.sort == "time") std::ranges::stable_sort(out, [&](const T& a, const T& b) { return ns(a) > ns(b); });
  if (o.sort == "name") std::ranges::stable_sort(out, [](const T& a, const T& b) { return a.name < b.name; });
  return out;
}
void noteHidden(size_t shown, size_t all) {
  if (shown < all)
    fmt::print("{} of {} shown; --limit 0 shows all\n", countText(static_cast<int64_t>(shown)),
               countText(static_cast<int64_t>(all)));
}
size_t limitOf(const LookOptions& o, size_t all) {
  return o.limit > 0 ? std::min(all, static_cast<size_t>(o.limit)) : all;
}

bool sortsByPrediction(const LookOptions& o) {
  return o.sort == "measured" || o.sort == "predicted" || o.sort == "ratio";
}

int listScopes(Trace& trace, const LookOptions& o) {
  std::vector<ScopeInfo> scopes = chosen<ScopeInfo>(
      trace.scopes(), o,
      [&](const ScopeInfo& s) {
        return (o.kind.empty() || kindName(s.kind) == o.kind) && hasName(s.name, o) &&
               (!o.errors || !s.endNs || failedIn(trace, s.id));
      },
      [](const ScopeInfo& s) { return s.steps; },
      [](const ScopeInfo& s) { return s.endNs.value_or(s.beginNs) - s.beginNs; });
  std::optional<PredictedColumns> columns;
  if (o.predicted || sortsByPrediction(o)) columns.emplace(trace);
  if (columns) std::erase_if(scopes, [](const ScopeInfo& s) { return s.kind != ScopeKind::Kernel; });
  if (sortsByPrediction(o))
    std::ranges::stable_sort(scopes, std::greater(),
                             [&](const ScopeInfo& s) { return columns->key(s.id, o.sort); });
  size_t limit = limitOf(o, scopes.size());
  if (o.json) {
    Json out;
    Json meta = Json::object();
    for (const auto& [key, value] : trace.meta()) meta[key] = value;
    out["meta"] = meta;
    out["warning"] = trace.warning();
    out["scopes"] = Json::array();
    for (size_t k = 0; k < limit; ++k) {
      const ScopeInfo& s = scopes[k];
      Json j{{"id", s.id},       {"parent", s.parent},           {"kind", kindName(s.kind)},
             {"name", s.name},   {"script", fileLine(s.script)}, {"root", s.root},
             {"steps", s.steps}, {"total_steps", s.totalSteps},  {"begin_ns", s.beginNs}};
      j["end_ns"] = s.endNs ? Json(*s.endNs) : Json();
      if (columns) columns->addTo(j, s.id);
      out["scopes"].push_back(j);
    }
    if (columns) out["prediction"] = columns->summaryJson();
    printJson(out);
    return kFine;
  }
  int64_t kernels = 0, steps = 0;
  for (const ScopeInfo& s : trace.scopes()) {
    kernels += s.kind == ScopeKind::Kernel;
    steps += s.steps;
  }
  for (const PassInfo& p : trace.passes(0)) steps += p.steps;
  fmt::print("{}  tier {}, {}, {}, {}\n", trace.meta("script").empty() ? trace.path() : trace.meta("script"),
             trace.meta("tier"), trace.status(), countedText(kernels, "kernel"), countedText(steps, "step"));
  std::vector<std::string> header{"#", "kind", "name", "steps", "time", "script line"};
  if (columns) std::ranges::copy(PredictedColumns::header(), std::inserter(header, header.end() - 1));
  Table table(header);
  bool nested = o.sort.empty() && scopes.size() == trace.scopes().size();
  for (const ScopeInfo& s : std::span(scopes).first(limit)) {
    std::vector<std::string> row{fmt::format("{}", s.id),
                                 std::string(kindName(s.kind)),
                                 std::string(nested ? static_cast<size_t>(depthOf(trace, s)) * 2 : 0, ' ') +
                                     s.name,
                                 countText(s.kind == ScopeKind::Script ? s.totalSteps : s.steps),
                                 s.endNs ? durationText(*s.endNs - s.beginNs) : "not ended",
                                 fileLine(s.script)};
    if (columns) std::ranges::copy(columns->cells(s.id), std::inserter(row, row.end() - 1));
    table.add(std::move(row));
  }
  if (table.size()) table.print();
  noteHidden(limit, scopes.size());
  if (columns) fmt::print("{}\n", columns->summary());
  if (!trace.passes(0).empty())
    fmt::print("{} passes ran outside any kernel or schedule: uopscope ls {} 0\n", trace.passes(0).size(),
               trace.path());
  return kFine;
}

int listPasses(Trace& trace, ScopeId scope, const LookOptions& o) {
  struct Numbered : PassInfo {
    size_t number = 0;
  };
  std::vector<Numbered> all;
  for (const PassInfo& p : trace.passes(scope)) all.push_back({p, all.size() + 1});
  std::vector<Numbered> passes = chosen<Numbered>(
      all, o,
      [&](const Numbered& p) { return hasName(p.name, o) && (!o.errors || p.outcome != PassOutcome::Done); },
      [](const Numbered& p) { return p.steps; },
      [](const Numbered& p) { return p.endNs.value_or(p.beginNs) - p.beginNs; });
  size_t limit = limitOf(o, passes.size());
  if (o.json) {
    Json out = Json::array();
    for (size_t k = 0; k < limit; ++k) {
      const Numbered& p = passes[k];
      Json j{{"number", p.number},
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
  for (size_t k = 0; k < limit; ++k) {
    const Numbered& p = passes[k];
    std::string name = std::string(o.sort.empty() ? static_cast<size_t>(p.depth) * 2 : 0, ' ') + p.name;
    table.add(
        {fmt::format("{}", p.number), name, countText(p.steps), p.nestedSteps ? countText(p.nestedSteps) : "",
         p.endNs ? durationText(*p.endNs - p.beginNs) : "", std::string(outcomeName(p)), fileLine(p.at)});
  }
  table.print();
  noteHidden(limit, passes.size());
  if (trace.artifact(scope, "ir"))
    fmt::print("then LLVM's passes: uopscope show {} {} --what llvm, and --what asm\n", trace.path(), scope);
  return kFine;
}

int listSteps(Trace& trace, PassId pass, const LookOptions& o) {
  bool filtered = !o.name.empty() || o.node || o.errors || !o.sort.empty();
  auto steps = trace.steps(pass, 1, filtered || o.limit <= 0 ? INT64_MAX : o.limit);
  std::erase_if(steps, [&](const StepInfo& s) {
    return (o.node && s.before != o.node && s.after != o.node) ||
           (o.errors && s.kind != StepKind::RewriteError) || !hasName(trace.rule(s.rule).name, o);
  });
  if (o.sort == "time")
    std::ranges::stable_sort(steps, [](const StepInfo& a, const StepInfo& b) { return a.ns > b.ns; });
  if (o.sort == "name")
    std::ranges::stable_sort(steps, [&](const StepInfo& a, const StepInfo& b) {
      return trace.rule(a.rule).name < trace.rule(b.rule).name;
    });
  int64_t all = filtered ? static_cast<int64_t>(steps.size()) : trace.pass(pass).steps;
  steps.resize(limitOf(o, steps.size()));
  auto read = trace.nodes().reader();
  const Decisions decided = decisionsOf(trace, pass);
  auto reasons = [&](const StepInfo& s) {
    const auto made = decided.find(s.id);
    return made == decided.end() ? std::vector<Decision>() : made->second;
  };
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
             {"took_ns", s.ns},
             {"decisions", decisionsJson(reasons(s))}};
      if (s.kind == StepKind::RewriteError) j["message"] = trace.stepMessage(s.id);
      out.push_back(j);
    }
    printJson(out);
    return kFine;
  }
  if (steps.empty()) {
    fmt::print("no step{}\n", filtered ? " fits" : "; stats --pass lists the rules that were tried");
    return kFine;
  }
  Table table({"step", "rule", "time", "before -> after"});
  for (const StepInfo& s : steps)
    table.add({fmt::format("{}", s.k), trace.rule(s.rule).name + (decided.contains(s.id) ? " *" : ""),
               durationText(s.ns),
               s.kind == StepKind::RewriteError
                   ? fmt::format("{} -> REWRITE_ERROR: {}", text(s.before), trace.stepMessage(s.id))
                   : fmt::format("{} -> {}", text(s.before), text(s.after))});
  table.print();
  noteHidden(steps.size(), static_cast<size_t>(all));
  if (std::ranges::any_of(steps, [&](const StepInfo& s) { return decided.contains(s.id); }))
    fmt::print("* a decision: uopscope show ... --step shows the reason, the price and the alternatives\n");
  return kFine;
}

int listNodes(Trace& trace, const LookOptions& o) {
  NodeHits hits = findNodes(trace, o.find, o.limit > 0 ? static_cast<size_t>(o.limit) : SIZE_MAX);
  auto read = trace.nodes().reader();
  if (o.json) {
    Json out{{"total", hits.total}, {"nodes", Json::array()}};
    for (NodeId id : hits.nodes)
      out["nodes"].push_back(
          Json{{"id", id}, {"label", nodeLabel(read(id))}, {"text", expression(read, id, 3, 100)}});
    printJson(out);
    return kFine;
  }
  Table table({"node", "label", "expression"});
  for (NodeId id : hits.nodes)
    table.add({fmt::format("{}", id), nodeLabel(read(id)), expression(read, id, 3, 80)});
  table.print();
  noteHidden(hits.nodes.size(), hits.total);
  return kFine;
}

} // namespace

int list(const LookOptions& o) {
  if (std::error_code ignored; std::filesystem::is_directory(o.trace, ignored)) return listFolder(o);
  Trace trace(o.trace);
  warnAbout(trace);
  if (!o.find.empty()) return listNodes(trace, o);
  if (o.registers) return listRegisters(trace, o);
  if (o.kernel.empty()) return listScopes(trace, o);
  if (o.predicted || sortsByPrediction(o))
    throw Error(ErrorKind::Value, "--predicted and its orders are for the list of kernels: leave KERNEL out");
  ScopeId scope = o.kernel == "0" ? 0 : trace.findScope(o.kernel);
  if (o.pass.empty()) return listPasses(trace, scope, o);
  return listSteps(trace, trace.findPass(scope, o.pass), o);
}

} // namespace uopscope::cli
