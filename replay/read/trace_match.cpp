// Match statistics of a trace: blocks of counts, summed on demand. A trace of version 1 has a row for each
// count instead.
#include "replay/read/trace.h"
#include "replay/schema/match_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace uopscope {

uint64_t MatchTotals::attempts() const {
  return std::accumulate(std::begin(count), std::end(count), uint64_t{0});
}
int64_t MatchTotals::totalNs() const {
  return std::accumulate(std::begin(ns), std::end(ns), int64_t{0});
}

namespace {
using Key = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>; ///< rule, pass, name, op, scope
struct KeyHash {
  size_t operator()(const Key& k) const {
    auto [rule, pass, name, op, scope] = k;
    auto h = static_cast<uint64_t>(rule) * 0x9E3779B97F4A7C15ull ^
             static_cast<uint64_t>(pass) * 0xbf58476d1ce4e5b9ull ^ static_cast<uint64_t>(name) << 40 ^
             static_cast<uint64_t>(op) << 20 ^ static_cast<uint64_t>(scope) << 8;
    return (h ^ h >> 31) * 0x94d049bb133111ebull;
  }
};
} // namespace

std::vector<MatchTotals> Trace::matchTotals(MatchGroup group, ScopeId scopeId, PassId passId) {
  using G = MatchGroup;
  bool byRule = group == G::Rule || group == G::RuleAndPass || group == G::Everything;
  bool byPass = group == G::Pass || group == G::RuleAndPass || group == G::Everything;
  bool byOp = group == G::Op || group == G::Everything, byScope = group == G::Scope;
  bool apart = byPass && (scopeId || passId); // over all scopes, passes of one name are one group
  std::map<int64_t, std::string> ops;
  for (Statement o = db_.prepare("SELECT id, name FROM op"); o.step();) ops[o.integer(0)] = o.text(1);

  std::vector<MatchTotals> out;
  std::unordered_map<Key, size_t, KeyHash> at;
  auto add = [&](ScopeId in, int64_t pass, int64_t name, uint32_t rule, uint32_t op, const MatchCell& cell) {
    Key key{byRule ? rule : 0, apart ? pass : 0, byPass ? name : 0, byOp ? op : -1, byScope ? in : 0};
    auto [it, fresh] = at.try_emplace(key, out.size());
    if (fresh) {
      MatchTotals& t = out.emplace_back();
      t.rule = std::get<0>(key);
      t.pass = std::get<1>(key);
      t.scope = std::get<4>(key);
      if (byPass) t.passName = string(name);
      if (byOp) t.op = ops[op];
    }
    MatchTotals& t = out[it->second];
    for (size_t k = 0; k < kMatchOutcomes; ++k) {
      t.count[k] += cell.count[k];
      t.ns[k] += cell.ns[k];
    }
  };
  constexpr const char* kWhere = "JOIN pass ON pass.id = c.pass WHERE (?1 = 0 OR pass.scope = ?1) AND "
                                 "(?2 = 0 OR c.pass = ?2) ORDER BY c.pass";
  bool whole = !scopeId && !passId && !byPass && !byScope;
  if (version_ < 2) {
    Statement s =
        db_.prepare(fmt::format("SELECT c.pass, iif(c.nested, c.nested, pass.name), c.rule, c.op, c.outcome, "
                                "c.count, c.took_ns, pass.scope FROM match_count c {}",
                                kWhere));
    for (s.bind(1, scopeId).bind(2, passId); s.step();) {
      auto outcome = static_cast<uint64_t>(s.integer(4));
      if (outcome >= kMatchOutcomes) continue;
      MatchCell cell;
      cell.count[outcome] = static_cast<uint64_t>(s.integer(5));
      cell.ns[outcome] = s.integer(6);
      add(s.integer(7), s.integer(0), s.integer(1), static_cast<uint32_t>(s.integer(2)),
          static_cast<uint32_t>(s.integer(3)), cell);
    }
  } else if (Statement any = db_.prepare("SELECT 1 FROM match_total LIMIT 1"); whole && any.step()) {
    Statement s =
        db_.prepare("SELECT rule, op, rejected_early, structure_differs, declined, applied, unchanged, "
                    "rejected_early_ns, structure_differs_ns, declined_ns, applied_ns, unchanged_ns "
                    "FROM match_total");
    while (s.step()) {
      MatchCell cell;
      for (size_t k = 0; k < kMatchOutcomes; ++k) {
        cell.count[k] = static_cast<uint64_t>(s.integer(static_cast<int>(2 + k)));
        cell.ns[k] = s.integer(static_cast<int>(2 + kMatchOutcomes + k));
      }
      add(0, 0, 0, static_cast<uint32_t>(s.integer(0)), static_cast<uint32_t>(s.integer(1)), cell);
    }
  } else {
    int64_t low = passId ? passId : 1, high = passId ? passId : INT64_MAX;
    if (scopeId && !passId) {
      Statement range = db_.prepare("SELECT min(id), max(id) FROM pass WHERE scope = ?");
      if (range.bind(1, scopeId).step()) {
        low = range.integer(0);
        high = range.integer(1);
      }
    }
    Statement of = db_.prepare("SELECT name, scope FROM pass WHERE id = ?");
    for (MatchBlockReader in(db_, low, high); in.next();) {
      bool counted = of.bind(1, in.pass()).step() && (!scopeId || of.integer(1) == scopeId);
      int64_t name = counted && !in.nested() ? of.integer(0) : in.nested();
      ScopeId scope = counted ? of.integer(1) : 0;
      of.reset();
      if (!counted) continue;
      in.decode([&](uint32_t rule, uint32_t op, const MatchCell& cell) {
        add(scope, in.pass(), name, rule, op, cell);
      });
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const MatchTotals& a, const MatchTotals& b) { return a.totalNs() > b.totalNs(); });
  return out;
}

std::vector<UnchangedInfo> Trace::unchanged(PassId pass) {
  std::vector<UnchangedInfo> out;
  Statement s =
      db_.prepare("SELECT rule, node, step FROM unchanged WHERE pass = ? ORDER BY step, node, rule");
  for (s.bind(1, pass); s.step();) out.push_back({pass, s.integer(0), nodeIdOf(s, 1), s.integer(2)});
  return out;
}

std::vector<RuleId> Trace::rulesOf(PassId pass) {
  std::vector<RuleId> out;
  if (version_ < 2) return out;
  for (const char* column : {"matcher_down", "matcher"}) {
    Statement s =
        db_.prepare(fmt::format("SELECT rule FROM matcher_rule WHERE matcher = (SELECT {} FROM pass "
                                "WHERE id = ?) ORDER BY position",
                                column));
    for (s.bind(1, pass); s.step();) out.push_back(s.integer(0));
  }
  return out;
}

std::vector<DeclineTotal> Trace::declines(ScopeId scopeId, PassId passId) {
  Statement rows =
      db_.prepare("SELECT rule, reason, sum(count) AS n FROM decline JOIN pass ON pass.id = decline.pass "
                  "WHERE (?1 = 0 OR pass.scope = ?1) AND (?2 = 0 OR pass.id = ?2) "
                  "GROUP BY rule, reason ORDER BY n DESC, rule, reason");
  rows.bind(1, scopeId).bind(2, passId);
  std::vector<DeclineTotal> out;
  while (rows.step()) out.push_back({rows.integer(0), string(rows.integer(1)), rows.integer(2)});
  return out;
}

} // namespace uopscope
