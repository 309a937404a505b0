// Writes the report for a terminal and for a pull request.
#include "replay/compare/report.h"
#include "replay/read/text_diff.h"
#include "replay/schema/printable.h"
#include "replay/schema/quantity_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace uopscope {

namespace {
bool wanted(const Change& c, const std::string& only) {
  if (only.empty()) return true;
  for (const std::string& s : {c.entry().name, c.cause, c.entry().place()})
    if (s.find(only) != std::string::npos) return true;
  return false;
}
std::string shortCommit(const std::string& commit) {
  return commit.substr(0, 12);
}
std::string sideName(const std::string& path, const std::string& commit) {
  return commit.empty() ? path : fmt::format("{} ({})", path, shortCommit(commit));
}
std::string lineOf(const Change& c) {
  std::string s = c.entry().name;
  if (c.before && c.after && c.before->name != c.after->name)
    s = fmt::format("{} -> {}", c.before->name, c.after->name);
  if (!c.entry().place().empty()) s += "  " + c.entry().place();
  if (c.entry().uses > 1) s += fmt::format("  ({} uses)", c.entry().uses);
  if (c.confidence < 1) s += fmt::format("  [paired by likeness: {:.0f} %]", c.confidence * 100);
  return s;
}
std::string coloured(const std::string& diff, bool colour) {
  if (!colour) return diff;
  std::string out;
  for (size_t i = 0; i < diff.size();) {
    size_t end = std::min(diff.find('\n', i), diff.size());
    std::string line = diff.substr(i, end - i);
    const char* paint = line.starts_with("@@")  ? "36"
                        : line.starts_with('+') ? "32"
                        : line.starts_with('-') ? "31"
                                                : "";
    out += *paint ? fmt::format("\x1b[{}m{}\x1b[0m\n", paint, line) : line + "\n";
    i = end + 1;
  }
  return out;
}
std::string ruleLine(const RuleChange& r) {
  auto percent = [](uint64_t applied, uint64_t attempts) {
    return attempts
               ? fmt::format("{:.2f} %", 100.0 * static_cast<double>(applied) / static_cast<double>(attempts))
               : "-";
  };
  if (r.what == "renamed") return fmt::format("{:<8} {} is now called {}", r.what, r.rule, r.renamedTo);
  return fmt::format("{:<8} {}: {} -> {} applied ({} -> {})", r.what, r.rule, countText(r.appliedBefore),
                     countText(r.appliedAfter), percent(r.appliedBefore, r.attemptsBefore),
                     percent(r.appliedAfter, r.attemptsAfter));
}
std::string tally(const CorpusDiff& d) {
  std::string s = fmt::format("same {}", countText(d.same));
  for (auto [n, what] : {std::pair{d.otherWay, "same code by other rewrites"},
                         {d.changed, "changed"},
                         {d.failed, "failed"},
                         {d.fixed, "fixed"},
                         {d.added, "only in the second"},
                         {d.removed, "only in the first"}})
    if (n) s += fmt::format(" · {} {}", what, countText(n));
  return s;
}
} // namespace

std::string headline(const CorpusDiff& d) {
  size_t kernels = 0, causes = 0;
  for (const ChangeGroup& g : d.groups)
    if (d.changes[g.changes[0]].status != Change::Status::OtherWay) ++causes, kernels += g.changes.size();
  if (!d.anyChange()) {
    std::string s = fmt::format("nothing changed ({} compared", countedText(d.changes.size(), "compilation"));
    return s + (d.otherWay ? fmt::format("; {} reach the same code by other rewrites)", countText(d.otherWay))
                           : ")");
  }
  size_t same = d.same + d.otherWay;
  return fmt::format("{} changed for {}; {} {} the same", countedText(kernels, "compilation"),
                     countedText(causes, "cause"), countText(same), same == 1 ? "is" : "are");
}

std::vector<std::string> changeFacts(const Change& c, const Corpus& before, const Corpus& after) {
  std::vector<std::string> facts;
  if (!c.before || !c.after) return facts;
  auto number = [](int64_t n) { return n < 0 ? std::string("?") : countText(n); };
  if (c.before->flops != c.after->flops)
    facts.push_back(fmt::format("FLOPs {} -> {}", number(c.before->flops), number(c.after->flops)));
  if (c.before->bytes != c.after->bytes)
    facts.push_back(fmt::format("bytes {} -> {}", number(c.before->bytes), number(c.after->bytes)));
  if (c.launch) {
    auto sizes = [](const Compilation& k) {
      auto j = nlohmann::json::parse(k.launch, nullptr, false);
      return j.is_object()
                 ? fmt::format("global {} local {}", j.value("global", nlohmann::json::array()).dump(),
                               j.value("local", nlohmann::json::array()).dump())
                 : std::string("none");
    };
    Compilation x = before.load(*c.before), y = after.load(*c.after);
    facts.push_back(fmt::format("launch {} -> {}", sizes(x), sizes(y)));
    if (x.opts != y.opts) facts.push_back(fmt::format("optimisations {} -> {}", x.opts, y.opts));
  }
  if (!c.ran.empty()) facts.push_back(c.ran);
  return facts;
}

std::string changeDiff(const Change& c, const Corpus& before, const Corpus& after, bool ignoreNames) {
  Compilation x = c.before ? before.load(*c.before, true) : Compilation{},
              y = c.after ? after.load(*c.after, true) : Compilation{};
  auto text = [&](const std::string& s) { return printable(ignoreNames ? withoutNames(s) : s); };
  std::string out = unifiedDiff(text(x.source), text(y.source), "before/source", "after/source");
  if (out.empty()) out += unifiedDiff(text(x.ir), text(y.ir), "before/ir", "after/ir");
  if (!x.assembly.empty() && !y.assembly.empty() && x.assembly != y.assembly)
    out += unifiedDiff(text(x.assembly), text(y.assembly), "before/asm", "after/asm");
  return out;
}

std::string reportText(const CorpusDiff& d, const Corpus& before, const Corpus& after,
                       const ReportOptions& o) {
  auto bold = [&](const std::string& s) { return o.colour ? fmt::format("\x1b[1m{}\x1b[0m", s) : s; };
  auto dim = [&](const std::string& s) { return o.colour ? fmt::format("\x1b[2m{}\x1b[0m", s) : s; };
  std::string out = fmt::format("{}\n{}\n", bold(headline(d)), tally(d));
  out += dim(fmt::format("before: {}\nafter:  {}", sideName(d.beforeName, d.beforeCommit),
                         sideName(d.afterName, d.afterCommit))) +
         "\n";
  for (const std::string& w : d.warnings) out += fmt::format("warning: {}\n", w);
  for (size_t i = 0; i < d.groups.size(); ++i) {
    const ChangeGroup& g = d.groups[i];
    std::vector<size_t> shown;
    for (size_t index : g.changes)
      if (wanted(d.changes[index], o.only)) shown.push_back(index);
    if (shown.empty()) continue;
    out += fmt::format("\n{}  {}\n", bold(fmt::format("{}. {}", i + 1, g.cause)),
                       dim(g.schedules == 0 ? countedText(g.kernels, "kernel")
                                            : countedText(g.kernels, "kernel") + ", " +
                                                  countedText(g.schedules, "schedule")));
    if (const Change& first = d.changes[shown[0]]; first.divergence.found())
      out += fmt::format("   first: {}\n", first.divergence.sentence());
    size_t limit = o.limit ? std::min(o.limit, shown.size()) : shown.size();
    for (size_t k = 0; k < limit; ++k) {
      const Change& c = d.changes[shown[k]];
      out += fmt::format("   {:<9} {}\n", statusName(c.status), lineOf(c));
      for (const std::string& fact : changeFacts(c, before, after))
        out += fmt::format("             {}\n", fact);
      if (o.diffs) out += coloured(changeDiff(c, before, after, o.ignoreNames), o.colour);
    }
    if (limit < shown.size())
      out += dim(fmt::format("   and {} more (--all lists them)", countText(shown.size() - limit))) + "\n";
  }
  if (!d.rules.empty()) {
    out += "\n" + bold("match statistics that changed") + "\n";
    size_t limit = o.limit ? std::min(o.limit, d.rules.size()) : d.rules.size();
    for (size_t i = 0; i < limit; ++i) out += "   " + ruleLine(d.rules[i]) + "\n";
    if (limit < d.rules.size())
      out += dim(fmt::format("   and {} more (--all lists them)", countText(d.rules.size() - limit))) + "\n";
  }
  return out;
}

std::string reportMarkdown(const CorpusDiff& d, const Corpus& before, const Corpus& after,
                           const ReportOptions& o) {
  std::string out = fmt::format("### Process replay: {}\n\n{}  \n", headline(d), tally(d));
  out += fmt::format("`{}` → `{}`  \n", sideName(d.beforeName, d.beforeCommit),
                     sideName(d.afterName, d.afterCommit));
  for (const std::string& w : d.warnings) out += fmt::format("\n> **Warning** {}\n", w);
  if (d.groups.empty()) return out;
  out += "\n| cause | kernels | schedules | first |\n|---|---:|---:|---|\n";
  auto cell = [](std::string s) {
    for (size_t at = 0; (at = s.find('|', at)) != std::string::npos; at += 2) s.insert(at, "\\");
    std::replace(s.begin(), s.end(), '\n', ' ');
    return s;
  };
  for (const ChangeGroup& g : d.groups)
    out += fmt::format("| {} | {} | {} | `{}` |\n", cell(g.cause), g.kernels, g.schedules,
                       cell(d.changes[g.changes[0]].entry().name));
  for (const ChangeGroup& g : d.groups) {
    out += fmt::format("\n<details><summary>{} ({})</summary>\n\n", g.cause,
                       countedText(g.changes.size(), "compilation"));
    size_t limit = o.limit ? std::min(o.limit, g.changes.size()) : g.changes.size();
    if (const Change& first = d.changes[g.changes[0]]; first.divergence.found())
      out += fmt::format("{}\n\n", first.divergence.sentence());
    for (size_t k = 0; k < limit; ++k) {
      const Change& c = d.changes[g.changes[k]];
      out += fmt::format("- {} `{}`", statusName(c.status), lineOf(c));
      for (const std::string& fact : changeFacts(c, before, after)) out += "; " + fact;
      out += '\n';
      if (k == 0) {
        std::string diff = changeDiff(c, before, after, o.ignoreNames);
        if (!diff.empty()) out += fmt::format("\n```diff\n{}```\n\n", diff);
      }
    }
    if (limit < g.changes.size()) out += fmt::format("- and {} more\n", countText(g.changes.size() - limit));
    out += "\n</details>\n";
  }
  if (!d.rules.empty()) {
    out += "\n<details><summary>Match statistics that changed</summary>\n\n```\n";
    for (const RuleChange& r : d.rules) out += ruleLine(r) + "\n";
    out += "```\n</details>\n";
  }
  return out;
}

std::string reportJson(const CorpusDiff& d, const Corpus& before, const Corpus& after,
                       const ReportOptions& o) {
  using Json = nlohmann::ordered_json;
  Json j;
  j["headline"] = headline(d);
  j["before"] = {{"corpus", d.beforeName}, {"commit", d.beforeCommit}};
  j["after"] = {{"corpus", d.afterName}, {"commit", d.afterCommit}};
  j["warnings"] = d.warnings;
  j["counts"] = {{"same", d.same},   {"other_way", d.otherWay}, {"changed", d.changed}, {"failed", d.failed},
                 {"fixed", d.fixed}, {"added", d.added},        {"removed", d.removed}};
  // Times of single runs, so no difference is claimed.
  j["compile_ns"] = {
      {"before", d.compileNsBefore}, {"after", d.compileNsAfter}, {"measured_alike", d.measuredAlike}};
  j["causes"] = Json::array();
  for (const ChangeGroup& g : d.groups) {
    Json& cause = j["causes"].emplace_back(Json{
        {"cause", g.cause}, {"kernels", g.kernels}, {"schedules", g.schedules}, {"changes", Json::array()}});
    for (size_t index : g.changes) {
      const Change& c = d.changes[index];
      if (!wanted(c, o.only)) continue;
      Json& k = cause["changes"].emplace_back();
      k["status"] = statusName(c.status);
      k["name"] = c.entry().name;
      k["kind"] = c.entry().isKernel() ? "kernel" : "schedule";
      k["device"] = c.entry().device;
      k["place"] = c.entry().place();
      k["uses"] = c.entry().uses;
      k["input"] = fmt::format("{:016x}", c.entry().inputHash);
      k["confidence"] = c.confidence;
      k["facts"] = changeFacts(c, before, after);
      if (!c.entry().message.empty()) k["message"] = c.entry().message;
      if (c.divergence.found()) {
        const Divergence& v = c.divergence;
        k["divergence"] = {{"kind", divergenceName(v.kind)},
                           {"pass", v.pass},
                           {"pass_number", v.passNumber},
                           {"step", v.step},
                           {"before_rule", v.beforeRule},
                           {"after_rule", v.afterRule},
                           {"node", v.node},
                           {"before_result", v.beforeResult},
                           {"after_result", v.afterResult}};
      }
      if (o.diffs) k["diff"] = changeDiff(c, before, after, o.ignoreNames);
    }
  }
  j["rules"] = Json::array();
  for (const RuleChange& r : d.rules)
    j["rules"].push_back({{"rule", r.rule},
                          {"what", r.what},
                          {"renamed_to", r.renamedTo},
                          {"attempts", {r.attemptsBefore, r.attemptsAfter}},
                          {"applied", {r.appliedBefore, r.appliedAfter}},
                          {"took_ns", {r.nsBefore, r.nsAfter}},
                          {"rank", {r.rankBefore, r.rankAfter}}});
  return j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

} // namespace uopscope
