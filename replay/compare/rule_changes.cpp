// Compares match statistics: rules by name over all passes. Times come from one run each, so they are shown
// but never count as a change.
#include "replay/compare/difference.h"

#include <algorithm>
#include <cmath>

namespace uopscope {

namespace {
struct Total {
  uint64_t attempts = 0, applied = 0;
  int64_t ns = 0;
  int rank = 0;
};
std::map<std::string, Total> totalsOf(const RuleCounts& counts,
                                      const std::map<std::string, std::string>& renamed) {
  std::map<std::string, Total> totals;
  for (const auto& [place, n] : counts) {
    auto it = renamed.find(place.rule);
    Total& t = totals[it == renamed.end() ? place.rule : it->second];
    for (uint64_t v : n.count) t.attempts += v;
    t.applied += n.count[static_cast<int>(Outcome::Applied)];
    t.ns += n.ns;
  }
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto& [rule, t] : totals) order.emplace_back(-t.ns, rule);
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i) totals[order[i].second].rank = static_cast<int>(i) + 1;
  return totals;
}
double rate(const Total& t) {
  return t.attempts ? static_cast<double>(t.applied) / static_cast<double>(t.attempts) : 0;
}
} // namespace

std::vector<RuleChange> diffRules(const RuleCounts& before, const RuleCounts& after,
                                  const std::map<std::string, std::string>& renamed) {
  auto a = totalsOf(before, renamed), b = totalsOf(after, {});
  std::map<std::string, std::string> oldName;
  for (const auto& [was, is] : renamed) oldName.emplace(is, was);
  std::vector<RuleChange> changes;
  if (a.empty() || b.empty()) return changes;
  std::set<std::string> all;
  for (const auto& [rule, t] : a) all.insert(rule);
  for (const auto& [rule, t] : b) all.insert(rule);
  for (const std::string& rule : all) {
    auto x = a.find(rule), y = b.find(rule);
    Total none, p = x == a.end() ? none : x->second, q = y == b.end() ? none : y->second;
    RuleChange c{rule, {}, p.attempts, q.attempts, p.applied, q.applied, p.ns, q.ns, p.rank, q.rank, {}};
    if (auto it = oldName.find(rule); it != oldName.end())
      c.what = "renamed", c.renamedTo = rule, c.rule = it->second;
    else if (x == a.end())
      c.what = "new";
    else if (y == b.end())
      c.what = "removed";
    else if (p.applied > 0 && q.applied == 0)
      c.what = "dead";
    else if (p.applied == 0 && q.applied > 0)
      c.what = "revived";
    else if (p.applied != q.applied || std::abs(rate(p) - rate(q)) > 0.02 * std::max(rate(p), rate(q)))
      c.what = "rate";
    else
      continue;
    changes.push_back(std::move(c));
  }
  std::stable_sort(changes.begin(), changes.end(), [](const RuleChange& x, const RuleChange& y) {
    auto weight = [](const RuleChange& c) {
      return c.appliedAfter > c.appliedBefore ? c.appliedAfter - c.appliedBefore
                                              : c.appliedBefore - c.appliedAfter;
    };
    return weight(x) > weight(y);
  });
  return changes;
}

} // namespace uopscope
