// uopscope diff A B: tells whether two traces record the same story, and where they first part. uopscope
// stats A --diff B: prints match statistics side by side, biggest differences first.
#include "app/cli/output.h"
#include "replay/read/trace_comparison.h"
#include "replay/schema/quantity_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope::cli {

namespace {
constexpr const char* kKinds[] = {"none", "scope", "pass", "step", "text", "launch"};

Json comparisonJson(const TraceComparison& c) {
  Json out{{"same", c.same},
           {"scopes", {c.scopes, c.otherScopes}},
           {"passes", {c.passes, c.otherPasses}},
           {"steps", {c.steps, c.otherSteps}},
           {"common_steps", c.commonSteps}};
  if (!c.same) {
    const TraceParting& p = c.parting;
    out["parting"] = Json{{"kind", kKinds[static_cast<int>(p.kind)]},
                          {"what", p.what},
                          {"first", p.first},
                          {"second", p.second},
                          {"scope", {p.scope, p.otherScope}},
                          {"pass", {p.pass, p.otherPass}},
                          {"step", {p.step, p.otherStep}}};
  }
  out["kernels"] = Json::array();
  for (const auto& k : c.kernels)
    out["kernels"].push_back(Json{{"kernel", {k.scope, k.otherScope}}, {"name", {k.name, k.otherName}}});
  out["circumstances"] = Json::array();
  for (const auto& s : c.circumstances)
    out["circumstances"].push_back(Json{{"key", s.key}, {"first", s.first}, {"second", s.second}});
  return out;
}
} // namespace

int diff(const LookOptions& o) {
  Trace a(o.trace), b(o.other);
  warnAbout(a);
  warnAbout(b);
  TraceComparison c = compareTraces(a, b);
  if (o.json) {
    printJson(comparisonJson(c));
    return c.same ? kFine : kFailed;
  }
  for (const auto& s : c.circumstances)
    fmt::print("{}: {} | {}\n", s.key, s.first.empty() ? "(none)" : s.first,
               s.second.empty() ? "(none)" : s.second);
  if (c.same) {
    fmt::print("the same story: {}, {} passes, {}\n", countedText(c.scopes, "scope"), countText(c.passes),
               countedText(c.steps, "step"));
    return kFine;
  }
  const TraceParting& p = c.parting;
  fmt::print("the first {} steps are the same; they part at {}\n", countText(c.commonSteps),
             paint(Paint::Bold, p.what));
  fmt::print("{}\n", paint(Paint::Removed, "- " + (p.first.empty() ? "nothing: it has ended" : p.first)));
  fmt::print("{}\n", paint(Paint::Added, "+ " + (p.second.empty() ? "nothing: it has ended" : p.second)));
  fmt::print("scopes {} | {}, passes {} | {}, steps {} | {}\n", countText(c.scopes), countText(c.otherScopes),
             countText(c.passes), countText(c.otherPasses), countText(c.steps), countText(c.otherSteps));
  if (!c.kernels.empty()) fmt::print("{} with another source\n", countedText(c.kernels.size(), "kernel"));
  size_t limit = o.limit > 0 ? static_cast<size_t>(o.limit) : c.kernels.size();
  for (size_t k = 0; k < std::min(limit, c.kernels.size()); ++k) {
    const auto& kernel = c.kernels[k];
    fmt::print("  {} {} | {} {}\n", kernel.scope, kernel.name.empty() ? "(none)" : kernel.name,
               kernel.otherScope, kernel.otherName.empty() ? "(none)" : kernel.otherName);
  }
  if (limit < c.kernels.size())
    fmt::print("  {} of {} shown; --limit 0 shows all\n", limit, c.kernels.size());
  return kFailed;
}

int statsDiff(const LookOptions& o, MatchGroup group) {
  Trace a(o.trace), b(o.other);
  warnAbout(a);
  warnAbout(b);
  struct Line {
    std::string name;
    MatchTotals first, second;
    int64_t matches() const {
      return static_cast<int64_t>(second.matches()) - static_cast<int64_t>(first.matches());
    }
    int64_t attempts() const {
      return static_cast<int64_t>(second.attempts()) - static_cast<int64_t>(first.attempts());
    }
    int64_t ns() const { return second.totalNs() - first.totalNs(); }
  };
  std::map<std::string, Line> byName;
  auto read = [&](Trace& trace, MatchTotals Line::* side) {
    ScopeId scope = o.kernel.empty() ? 0 : trace.findScope(o.kernel);
    PassId pass = o.pass.empty() ? 0 : trace.findPass(scope, o.pass);
    for (const MatchTotals& t : trace.matchTotals(group, scope, pass)) {
      std::string name = t.rule    ? trace.rule(t.rule).name
                         : t.scope ? trace.scope(t.scope).name
                                   : (t.passName.empty() ? t.op : t.passName);
      Line& line = byName[name];
      line.name = name;
      for (int k = 0; k < kOutcomeCount; ++k) {
        (line.*side).count[k] += t.count[k];
        (line.*side).ns[k] += t.ns[k];
      }
    }
  };
  read(a, &Line::first);
  read(b, &Line::second);
  std::vector<Line> lines;
  bool differ = false;
  for (auto& [name, line] : byName) {
    differ |= !std::equal(line.first.count, line.first.count + kOutcomeCount, line.second.count);
    lines.push_back(std::move(line));
  }
  std::ranges::stable_sort(lines,
                           [](const Line& x, const Line& y) { return std::abs(x.ns()) > std::abs(y.ns()); });
  size_t limit = o.limit > 0 ? static_cast<size_t>(o.limit) : lines.size();
  if (o.json) {
    Json out = Json::array();
    for (const Line& l : lines)
      out.push_back(Json{{o.by, l.name},
                         {"matches", {l.first.matches(), l.second.matches()}},
                         {"attempts", {l.first.attempts(), l.second.attempts()}},
                         {"total_ns", {l.first.totalNs(), l.second.totalNs()}}});
    printJson(out);
    return differ ? kFailed : kFine;
  }
  auto signedText = [](int64_t n) { return n ? fmt::format("{}{}", n > 0 ? "+" : "", countText(n)) : ""; };
  Table table({o.by, "matches", "other", "change", "attempts", "other", "change", "time", "other", "change"});
  for (size_t k = 0; k < std::min(limit, lines.size()); ++k) {
    const Line& l = lines[k];
    table.add({l.name, countText(static_cast<int64_t>(l.first.matches())),
               countText(static_cast<int64_t>(l.second.matches())), signedText(l.matches()),
               countText(static_cast<int64_t>(l.first.attempts())),
               countText(static_cast<int64_t>(l.second.attempts())), signedText(l.attempts()),
               durationText(l.first.totalNs()), durationText(l.second.totalNs()),
               l.ns() ? fmt::format("{}{}", l.ns() > 0 ? "+" : "-", durationText(std::abs(l.ns()))) : ""});
  }
  table.print();
  if (limit < lines.size()) fmt::print("{} of {} shown; --limit 0 shows all\n", limit, lines.size());
  return differ ? kFailed : kFine;
}

} // namespace uopscope::cli
