// TRACK_MATCH_STATS: totals of match attempts in memory, printed at the end in the reference's form: matches
// / attempts -- ms in matches / ms in all -- place -- rule. As in the reference, an early rejection counts as
// time but not as an attempt.
//
//   MatchStats stats;  ObserverScope scope(&stats);  ...  fputs(stats.table(1).c_str(), stdout);
#pragma once
#include "engine/rewrite/forwarding_observer.h"
#include "replay/record/match_sums.h"

namespace uopscope {

class MatchStats : public Observer {
public:
  bool wantsRewrites() const override { return false; }
  bool wantsCounts() const override { return true; }
  bool wantsMachineTexts() const override { return false; }
  void onCounts(const PassCounts& counts) override;
  std::unique_ptr<Observer> fork(uint64_t ordinal) override;

  /// detail 2 adds a column per outcome: early, structure, declined, applied, unchanged.
  std::string table(int detail = 1) const;

private:
  mutable std::mutex mutex_;
  mutable RuleBook book_;
  RuleCache cache_{book_};
  MatchSums sums_;
};

/// TRACK_MATCH_STATS=3: prints each rewrite as it is made, with its time and the place of its rule.
class RewritePrinter : public ForwardingObserver {
public:
  using ForwardingObserver::ForwardingObserver;
  Control onRewrite(const RewriteEvent& event) override;
};

} // namespace uopscope
