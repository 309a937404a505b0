// uopscope show TRACE KERNEL [--pass P] [--step K] [--what ...]: prints one part of a trace as text.
#include "app/cli/output.h"
#include "replay/read/print.h"
#include "replay/read/text_diff.h"
#include "replay/schema/quantity_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope::cli {

namespace {

int showArtifact(Trace& trace, ScopeId scope, const LookOptions& o) {
  auto text = trace.artifact(scope, o.what);
  if (!text) {
    std::string kinds;
    for (const ArtifactInfo& a : trace.artifacts(scope))
      if (kinds.find(a.kind) == std::string::npos) kinds += (kinds.empty() ? "" : ", ") + a.kind;
    const bool neverKept = (o.what == "ir" || o.what == "asm") && trace.meta("tier") == "stats";
    throw Error(
        ErrorKind::Key,
        fmt::format("\"{}\" has no {}; it has {}{}", trace.scope(scope).name, o.what,
                    kinds.empty() ? "no texts at all" : kinds,
                    neverKept ? ". Tier stats keeps no IR and no assembly: record with --tier full" : ""));
  }
  if (o.json)
    printJson(Json{{"kernel", trace.scope(scope).name}, {"kind", o.what}, {"text", *text}});
  else
    fmt::print("{}{}", *text, text->empty() || text->back() != '\n' ? "\n" : "");
  return kFine;
}

/// Shows the candidates of a search, fastest first; candidates that did not run come last, with the reason.
int showCandidates(Trace& trace, ScopeId scope, const LookOptions& o) {
  std::vector<CandidateInfo> found = trace.candidates(scope);
  if (found.empty())
    throw Error(ErrorKind::Key,
                fmt::format("no search was made for \"{}\"; record with BEAM=2, and with IGNORE_BEAM_CACHE=1 "
                            "where it had been made before",
                            trace.scope(scope).name));
  std::ranges::stable_sort(found, {}, [](const CandidateInfo& c) { return c.ns.value_or(INT64_MAX); });
  std::string chosen = trace.artifact(scope, "opts").value_or("");
  if (o.json) {
    Json out = Json::array();
    for (const CandidateInfo& c : found)
      out.push_back(Json{{"opts", Json::parse(c.opts, nullptr, false)},
                         {"took_ns", c.ns ? Json(*c.ns) : Json()},
                         {"message", c.message},
                         {"chosen", c.opts == chosen}});
    printJson(out);
    return kFine;
  }
  Table table({"#", "time", "optimisations"});
  size_t rows = o.limit > 0 ? std::min(found.size(), static_cast<size_t>(o.limit)) : found.size();
  for (size_t k = 0; k < rows; ++k) {
    const CandidateInfo& c = found[k];
    table.add({fmt::format("{}", k + 1), c.ns ? durationText(*c.ns) : "-",
               c.opts + (c.opts == chosen ? "  chosen" : "") + (c.message.empty() ? "" : "  " + c.message)});
  }
  table.print();
  if (rows < found.size())
    fmt::print("{} more; --limit 0 shows all\n", countText(static_cast<int64_t>(found.size() - rows)));
  return kFine;
}

int showGraph(Cursor& cursor, int64_t k, const LookOptions& o) {
  const auto& graph = cursor.graphAt(k);
  if (!o.json) {
    fmt::print("{}", printTree(cursor.reader(), cursor.rootAt(k),
                               o.limit > 0 ? static_cast<size_t>(o.limit) : SIZE_MAX));
    return kFine;
  }
  Json nodes = Json::array();
  for (NodeId id : graph) {
    NodeFields n = cursor.fields(id);
    Json j{{"id", nodeName(id)}, {"op", opName(n.op)}, {"dtype", n.dtype.name()}, {"src", Json::array()}};
    if (n.arg) j["arg"] = n.arg.repr();
    if (n.tag) j["tag"] = n.tag.repr();
    for (NodeId s : n.src) j["src"].push_back(nodeName(s));
    nodes.push_back(j);
  }
  printJson(Json{{"pass", cursor.info().name},
                 {"step", k},
                 {"steps", cursor.steps()},
                 {"root", nodeName(cursor.rootAt(k))},
                 {"nodes", nodes}});
  return kFine;
}

int showDiff(Trace& trace, Cursor& cursor, int64_t k, const LookOptions& o) {
  int64_t from = o.step >= 0 ? k - 1 : 0;
  if (from < 0)
    throw Error(ErrorKind::Index, "step 0 is the graph the pass began with; there is no difference to show");
  GraphDiff d = cursor.diff(from, k);
  auto read = cursor.reader();
  auto ids = [&](const std::vector<NodeId>& list) {
    Json out = Json::array();
    for (NodeId id : list) out.push_back(Json{{"id", nodeName(id)}, {"text", expression(read, id, 4, 200)}});
    return out;
  };
  bool single = o.step >= 0;
  if (o.json) {
    Json out{
        {"pass", cursor.info().name}, {"from", from}, {"to", k}, {"kept", d.kept}, {"added", ids(d.added)},
        {"removed", ids(d.removed)}};
    out["changed"] = Json::array();
    for (const auto& c : d.changed)
      out["changed"].push_back(
          Json{{"before", nodeName(c.before)}, {"after", nodeName(c.after)}, {"rewritten", c.rewritten}});
    if (single) {
      const StepInfo& s = cursor.step(k);
      const RuleInfo& rule = trace.rule(s.rule);
      out["rule"] = Json{
          {"name", rule.name}, {"at", fileLine(rule.at)}, {"text", rule.text}, {"pattern", rule.pattern}};
      out["before"] = expression(read, s.before, 40, 20000);
      out["after"] = s.after ? Json(expression(read, s.after, 40, 20000)) : Json();
      out["took_ns"] = s.ns;
      out["decisions"] = decisionsJson(decisionsAt(trace, s.id));
      if (s.kind == StepKind::RewriteError) out["error"] = trace.stepMessage(s.id);
    }
    printJson(out);
    return kFine;
  }
  if (single) {
    const StepInfo& s = cursor.step(k);
    const RuleInfo& rule = trace.rule(s.rule);
    fmt::print("{}  step {} of {}, {}\n", paint(Paint::Bold, rule.name), k, cursor.steps(),
               durationText(s.ns));
    fmt::print("{}  {}\n", fileLine(rule.at), rule.text);
    fmt::print("pattern  {}\n", rule.pattern);
    printDecisions(decisionsAt(trace, s.id));
    if (s.kind == StepKind::RewriteError)
      fmt::print("{}\n", paint(Paint::Warning, "REWRITE_ERROR: " + trace.stepMessage(s.id)));
    std::string before = printTree(read, s.before, 400), after = s.after ? printTree(read, s.after, 400) : "";
    for (const std::string& line : lineDiff(before, after))
      fmt::print("{}\n", line[0] == '+'   ? paint(Paint::Added, line)
                         : line[0] == '-' ? paint(Paint::Removed, line)
                                          : line);
  }
  fmt::print("nodes: {} kept, {} added, {} removed, {} changed\n", d.kept, d.added.size(), d.removed.size(),
             d.changed.size());
  for (NodeId id : d.removed)
    fmt::print("{}\n",
               paint(Paint::Removed, fmt::format("- {} {}", nodeName(id), expression(read, id, 4, 120))));
  for (NodeId id : d.added)
    fmt::print("{}\n",
               paint(Paint::Added, fmt::format("+ {} {}", nodeName(id), expression(read, id, 4, 120))));
  for (const auto& c : d.changed)
    if (c.rewritten || !single)
      fmt::print("{}\n",
                 paint(Paint::Changed, fmt::format("~ {} -> {} {}", nodeName(c.before), nodeName(c.after),
                                                   expression(read, c.after, 4, 120))));
  return kFine;
}

} // namespace

int show(const LookOptions& given) {
  LookOptions o = given;
  Trace trace(o.trace);
  warnAbout(trace);
  if (o.kernel.empty() && (o.what != "provenance" || o.line.empty()))
    throw Error(ErrorKind::Value,
                fmt::format("which kernel or schedule? uopscope ls {} lists them", o.trace));
  ScopeId scope = o.kernel.empty() || o.kernel == "0" ? 0 : trace.findScope(o.kernel);
  if (o.what.empty()) o.what = o.pass.empty() ? "source" : o.step > 0 ? "diff" : "graph";
  if (o.what == "candidates") return showCandidates(trace, scope, o);
  if (o.what == "llvm") return showLlvm(trace, scope, o);
  if (o.what == "provenance") return showProvenance(trace, scope, o);
  if (o.what != "graph" && o.what != "diff") return showArtifact(trace, scope, o);
  PassId pass;
  if (o.pass.empty()) {
    const auto& passes = trace.passes(scope);
    if (passes.empty()) throw Error(ErrorKind::Key, "there is no pass in it");
    pass = passes.back().id;
    for (const PassInfo& p : passes)
      if (p.depth == 0) pass = p.id;
  } else {
    pass = trace.findPass(scope, o.pass);
  }
  Cursor cursor(trace, pass);
  int64_t k = o.step >= 0 ? o.step : cursor.steps();
  return o.what == "graph" ? showGraph(cursor, k, o) : showDiff(trace, cursor, k, o);
}

} // namespace uopscope::cli
