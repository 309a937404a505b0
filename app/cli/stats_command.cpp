// uopscope stats TRACE [--by rule|pass|op|kernel] and uopscope query TRACE SQL: print numbers of a trace.
#include "app/cli/output.h"
#include "engine/prove/known_status.h"
#include "replay/read/sql.h"
#include "replay/schema/quantity_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope::cli {

namespace {
constexpr const char* kOutcomes[kOutcomeCount] = {"rejected_early", "structure_differs", "declined",
                                                  "applied", "unchanged"};

/// Proof status of a rule of the engine's tables; empty for a rule of a script.
std::string proofOf(Trace& trace, const MatchTotals& t) {
  if (!t.rule) return {};
  std::string at = fileLine(trace.rule(t.rule).at);
  return std::string(prove::knownStatus(at.substr(0, at.rfind(':')), trace.rule(t.rule).name));
}

MatchGroup groupNamed(const std::string& by) {
  if (by == "rule") return MatchGroup::Rule;
  if (by == "pass") return MatchGroup::Pass;
  if (by == "op") return MatchGroup::Op;
  if (by == "kernel") return MatchGroup::Scope;
  throw Error(ErrorKind::Value,
              fmt::format("--by {}: there are rule, pass, op, kernel, reason, phase and launch", by));
}

/// Totals of a trace in the requested order, with their names.
struct Report {
  Trace& trace;
  const LookOptions& o;
  std::vector<MatchTotals> totals;

  std::string nameOf(const MatchTotals& t) const {
    if (t.rule) return trace.rule(t.rule).name;
    if (t.scope) return fmt::format("{} #{}", trace.scope(t.scope).name, t.scope);
    return t.passName.empty() ? t.op : t.passName;
  }
  std::string placeOf(const MatchTotals& t) const {
    return t.rule ? fileLine(trace.rule(t.rule).at) : std::string();
  }
  static double rateOf(const MatchTotals& t) {
    return t.attempts() ? static_cast<double>(t.matches()) / static_cast<double>(t.attempts()) : 0;
  }
  void keepNamed() {
    if (!o.name.empty())
      std::erase_if(totals,
                    [&](const MatchTotals& t) { return nameOf(t).find(o.name) == std::string::npos; });
  }
  void sort() {
    std::ranges::stable_sort(totals, [&](const MatchTotals& a, const MatchTotals& b) {
      if (o.sort == "matches") return a.matches() > b.matches();
      if (o.sort == "attempts") return a.attempts() > b.attempts();
      if (o.sort == "rate") return rateOf(a) > rateOf(b);
      if (o.sort == "unchanged") return a.count[int(Outcome::Unchanged)] > b.count[int(Outcome::Unchanged)];
      if (o.sort == "name") return nameOf(a) < nameOf(b);
      return false; // the totals are in order of time already
    });
  }
  size_t limit() const { return o.limit > 0 ? static_cast<size_t>(o.limit) : totals.size(); }

  void printJsonRows() const {
    Json out = Json::array();
    for (size_t i = 0; i < std::min(limit(), totals.size()); ++i) {
      const MatchTotals& t = totals[i];
      Json j{{o.by, nameOf(t)}};
      for (int k = 0; k < kOutcomeCount; ++k) j[kOutcomes[k]] = t.count[k];
      for (int k = 0; k < kOutcomeCount; ++k) j[fmt::format("{}_ns", kOutcomes[k])] = t.ns[k];
      if (t.rule) {
        j["at"] = placeOf(t);
        j["text"] = trace.rule(t.rule).text;
        j["proof"] = proofOf(trace, t);
      }
      out.push_back(j);
    }
    printJson(out);
  }

  void printCsv() const {
    fmt::print("{}", o.by);
    for (const char* name : kOutcomes) fmt::print(",{}", name);
    for (const char* name : kOutcomes) fmt::print(",{}_ns", name);
    fmt::print(",at,proof\n");
    for (size_t i = 0; i < std::min(limit(), totals.size()); ++i) {
      const MatchTotals& t = totals[i];
      fmt::print("{}", csvField(nameOf(t)));
      for (uint64_t c : t.count) fmt::print(",{}", c);
      for (int64_t ns : t.ns) fmt::print(",{}", ns);
      fmt::print(",{},{}\n", csvField(placeOf(t)), proofOf(trace, t));
    }
  }

  void printTable() const {
    Table table({o.by, "matches", "attempts", "rate", "match time", "time", "early", "structure", "declined",
                 "applied", "unchanged", "at", o.by == "rule" ? "proof" : ""});
    size_t matched = 0;
    MatchTotals all;
    for (const MatchTotals& t : totals) {
      for (int k = 0; k < kOutcomeCount; ++k) {
        all.count[k] += t.count[k];
        all.ns[k] += t.ns[k];
      }
      matched += t.matches() > 0;
      if (table.size() >= limit()) continue;
      std::vector<std::string> row{nameOf(t),
                                   countText(static_cast<int64_t>(t.matches())),
                                   countText(static_cast<int64_t>(t.attempts())),
                                   fmt::format("{:.2f}%", 100.0 * rateOf(t)),
                                   durationText(t.matchNs()),
                                   durationText(t.totalNs())};
      for (uint64_t c : t.count) row.push_back(countText(static_cast<int64_t>(c)));
      std::string at = placeOf(t);
      row.push_back(at.substr(at.rfind('/') + 1));
      row.push_back(proofOf(trace, t));
      table.add(std::move(row));
    }
    table.print();
    fmt::print("{} {}s, {} matched; {} matches in {} attempts, {} in matches, {} in all\n", totals.size(),
               o.by == "pass"     ? "passe"
               : o.by == "kernel" ? "kernels and schedule"
                                  : o.by,
               matched, countText(static_cast<int64_t>(all.matches())),
               countText(static_cast<int64_t>(all.attempts())), durationText(all.matchNs()),
               durationText(all.totalNs()));
    if (limit() < totals.size()) fmt::print("{} of {} shown; --limit 0 shows all\n", limit(), totals.size());
  }
};
} // namespace

int stats(const LookOptions& o) {
  if (o.by == "phase") return phaseStats(o);
  if (o.by == "launch") return launchStats(o);
  if (o.by == "reason") return reasonStats(o);
  MatchGroup group = groupNamed(o.by);
  if (!o.other.empty()) return statsDiff(o, group);
  Trace trace(o.trace);
  warnAbout(trace);
  ScopeId scope = o.kernel.empty() ? 0 : trace.findScope(o.kernel);
  PassId pass = o.pass.empty() ? 0 : trace.findPass(scope, o.pass);
  Report report{trace, o, trace.matchTotals(group, scope, pass)};
  report.keepNamed();
  report.sort();
  if (o.csv)
    report.printCsv();
  else if (o.json)
    report.printJsonRows();
  else
    report.printTable();
  return kFine;
}

int sqlQuery(const LookOptions& o) {
  Trace trace(o.trace);
  warnAbout(trace);
  SqlResult result = query(trace, o.sql, o.limit > 0 ? static_cast<size_t>(o.limit) : SIZE_MAX);
  auto text = [](const SqlValue& v) -> std::string {
    if (auto* i = std::get_if<int64_t>(&v)) return fmt::format("{}", *i);
    if (auto* d = std::get_if<double>(&v)) return fmt::format("{}", *d);
    if (auto* s = std::get_if<std::string>(&v)) return *s;
    return {};
  };
  if (o.json) {
    Json out = Json::array();
    for (const auto& row : result.rows) {
      Json j = Json::object();
      for (size_t c = 0; c < row.size(); ++c) {
        Json& field = j[result.columns[c]];
        std::visit(
            [&](const auto& v) {
              if constexpr (!std::is_same_v<std::decay_t<decltype(v)>, std::monostate>) field = v;
            },
            row[c]);
      }
      out.push_back(j);
    }
    printJson(out);
  } else if (o.csv) {
    for (size_t c = 0; c < result.columns.size(); ++c)
      fmt::print("{}{}", c ? "," : "", csvField(result.columns[c]));
    fmt::print("\n");
    for (const auto& row : result.rows) {
      for (size_t c = 0; c < row.size(); ++c) fmt::print("{}{}", c ? "," : "", csvField(text(row[c])));
      fmt::print("\n");
    }
  } else {
    Table table(result.columns);
    for (const auto& row : result.rows) {
      std::vector<std::string> cells;
      for (const auto& v : row) cells.push_back(text(v));
      table.add(std::move(cells));
    }
    table.print();
  }
  if (result.more)
    fmt::print(stderr, "uopscope: only {} rows shown; --limit 0 shows all\n", result.rows.size());
  return kFine;
}

} // namespace uopscope::cli
