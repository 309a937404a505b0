// The order of additions does not matter, so observers forked for other threads add to the same totals under
// a lock, once per pass.
#include "replay/record/match_stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace uopscope {

namespace {
class Forward final : public Observer {
public:
  explicit Forward(MatchStats& to) : to_(to) {}
  bool wantsRewrites() const override { return false; }
  bool wantsCounts() const override { return true; }
  bool wantsMachineTexts() const override { return false; }
  void onCounts(const PassCounts& counts) override { to_.onCounts(counts); }
  std::unique_ptr<Observer> fork(uint64_t) override { return std::make_unique<Forward>(to_); }

private:
  MatchStats& to_;
};
double ms(int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}
} // namespace

void MatchStats::onCounts(const PassCounts& counts) {
  std::lock_guard lock(mutex_);
  sums_.add(packCounts(counts, cache_));
}

std::unique_ptr<Observer> MatchStats::fork(uint64_t) {
  return std::make_unique<Forward>(*this);
}

std::string MatchStats::table(int detail) const {
  std::lock_guard lock(mutex_);
  struct Line {
    uint32_t rule;
    uint64_t matches, attempts;
    int64_t matchNs, allNs;
  };
  std::map<uint32_t, MatchCell> totals;
  sums_.forEach(book_, [&](uint32_t rule, Op, const MatchCell& cell) { totals[rule].add(cell); });
  std::vector<Line> lines;
  for (const auto& [k, t] : totals) {
    uint64_t matches = t.count[int(Outcome::Applied)] + t.count[int(Outcome::Unchanged)];
    uint64_t attempts = matches + t.count[int(Outcome::StructureDiffers)] + t.count[int(Outcome::Declined)];
    lines.push_back({k, matches, attempts, t.ns[int(Outcome::Applied)] + t.ns[int(Outcome::Unchanged)],
                     std::accumulate(std::begin(t.ns), std::end(t.ns), int64_t{0})});
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.allNs < b.allNs; });
  std::string out;
  Line all{};
  size_t matched = 0;
  for (const Line& l : lines) {
    RuleText rule = book_.text(l.rule);
    std::string file = rule.file.substr(rule.file.rfind('/') + 1);
    out += fmt::format("{:6} / {:7} -- {:9.2f} / {:9.2f} ms -- {:<20} {}\n", l.matches, l.attempts,
                       ms(l.matchNs), ms(l.allNs), fmt::format("{}:{}", file, rule.line), rule.text);
    if (detail >= 2) {
      const MatchCell& t = totals[l.rule];
      out += fmt::format("                 {}: rejected early {}, structure differs {}, declined {}, applied "
                         "{}, unchanged {}\n",
                         rule.name, t.count[0], t.count[1], t.count[2], t.count[3], t.count[4]);
    }
    all.matches += l.matches;
    all.attempts += l.attempts;
    all.matchNs += l.matchNs;
    all.allNs += l.allNs;
    matched += l.matches > 0;
  }
  out += fmt::format("{:6} / {:7} -- {:9.2f} / {:9.2f} ms -- TOTAL\n", all.matches, all.attempts,
                     ms(all.matchNs), ms(all.allNs));
  out += fmt::format("{} rules, {} matched once\n", lines.size(), matched);
  return out;
}

Control RewritePrinter::onRewrite(const RewriteEvent& event) {
  const Control answer = ForwardingObserver::onRewrite(event);
  if (answer != Control::Skip) {
    const std::string_view file = event.rule->file();
    fmt::print("{:7.2f} us -- {:<20} {}\n", static_cast<double>(event.ns) / 1e3,
               fmt::format("{}:{}", file.substr(file.rfind('/') + 1), event.rule->line()),
               event.rule->name());
  }
  return answer;
}

} // namespace uopscope
