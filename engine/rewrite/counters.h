// Counts of attempts of one pass, kept in plain arrays by rule and operation while the pass runs.
//
// Every attempt is counted. Times of attempts that fail are sampled (one node in sixteen is timed and stands
// for all); functions that ran and rewrites that were made are always timed.
#pragma once
#include "engine/base/clock.h"
#include "engine/rewrite/observer.h"

#include <array>
#include <vector>

namespace uopscope {

class MatchCounters {
public:
  static constexpr uint32_t kSampleEvery = 16;

  explicit MatchCounters(size_t ruleCount) : cells_(ruleCount * kOpCount) {}

  /// Starts a node; whether its failing attempts are timed.
  bool startNode() { return ++nodes_ % kSampleEvery == 0; }
  void count(size_t rule, Op op, Outcome outcome, uint64_t tickCount) {
    Cell& c = cells_[rule * kOpCount + static_cast<size_t>(op)];
    auto o = static_cast<size_t>(outcome);
    ++c.count[o];
    c.ticks[o] += tickCount;
  }
  /// All cells that counted something, in order of rules and operations.
  std::vector<MatchCount> collect(const std::vector<std::shared_ptr<const Rule>>& rules) const;

private:
  struct Cell {
    std::array<uint64_t, kOutcomeCount> count{}, ticks{};
  };
  std::vector<Cell> cells_;
  uint32_t nodes_ = 0;
};

} // namespace uopscope
