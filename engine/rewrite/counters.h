// Counts of attempts of one pass, kept in plain arrays by operation and rule while the pass runs. An array
// has the rules that are tried on its operation and is made when one of them does more than reject early:
// many passes are short, and see few operations.
//
// Early rejections, by far the most, cost nothing to count: a rule is reached by every node that no rule
// before it rewrote, so it rejected early every node that it did not decline or rewrite. Times of attempts that fail on
// structure are sampled (one node in 64 is timed and stands for all); functions that ran and rewrites that
// were made are always timed.
#pragma once
#include "engine/base/clock.h"
#include "engine/rewrite/observer.h"

#include <array>
#include <memory>
#include <span>
#include <vector>

namespace uopscope {

class MatchCounters {
public:
  static constexpr uint32_t kSampleEvery = 64;

  /// Starts a node that these rules are tried on (always the same ones for an operation; they outlive this);
  /// whether its failing attempts are timed.
  bool startNode(Op op, std::span<const uint32_t> tried) {
    uint8_t& place = place_[static_cast<size_t>(op)];
    if (!place) {
      met_.push_back({op, 0, tried, {}});
      place = static_cast<uint8_t>(met_.size());
    }
    ++met_[place - 1u].nodes;
    return ++nodes_ % kSampleEvery == 0;
  }
  /// `place`: of the rule among those tried.
  void count(size_t place, Op op, Outcome outcome, uint64_t tickCount) {
    Cell& c = cell(place, op);
    auto o = static_cast<size_t>(outcome);
    ++c.count[o];
    c.ticks[o] += tickCount;
  }
  /// The rule declined for this reason.
  void countReason(size_t place, Op op, const char* why) {
    auto& reasons = cell(place, op).reasons;
    for (auto& [known, n] : reasons)
      if (known == why) return void(++n);
    reasons.emplace_back(why, 1);
  }
  /// The rule ended the node without an outcome: it gated the node, or threw.
  void stop(size_t place, Op op) { ++cell(place, op).stopped; }
  /// Adds all cells that counted something, in order of operations as met and rules.
  void collect(const std::vector<std::shared_ptr<const Rule>>& rules, std::vector<MatchCount>& out) const;
  /// Adds the reasons counted, in the same order.
  void collectReasons(const std::vector<std::shared_ptr<const Rule>>& rules,
                      std::vector<DeclineCount>& out) const;

private:
  struct Cell {
    std::array<uint64_t, kOutcomeCount> ticks{};
    std::array<uint32_t, kOutcomeCount> count{};
    uint32_t stopped = 0;
    std::vector<std::pair<const char*, uint32_t>> reasons; ///< for declining: few a rule
  };
  struct OfOp {
    Op op;
    uint64_t nodes;
    std::span<const uint32_t> tried;
    std::unique_ptr<Cell[]> cells; ///< of the rules tried; null while all of them rejected early
  };
  Cell& cell(size_t place, Op op) {
    OfOp& of = met_[place_[static_cast<size_t>(op)] - 1u];
    if (!of.cells) of.cells = std::make_unique<Cell[]>(of.tried.size());
    return of.cells[place];
  }

  static_assert(kOpCount < 255);
  std::array<uint8_t, kOpCount> place_{}; ///< in met_, from 1
  std::vector<OfOp> met_;
  uint32_t nodes_ = 0;
};

} // namespace uopscope
