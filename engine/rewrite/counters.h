// Counts of the attempts of one pass. Plain arrays by operation and rule hold them while the pass runs. The
// array of an operation covers the rules tried on it. It is made when one of these rules does more than
// reject early, since most passes are short and see few operations.
//
// Early rejections are by far the most attempts, and counting them costs nothing. A rule is reached by every
// node that no earlier rule rewrote, so it rejected early all reached nodes for which it has no recorded
// outcome. The times of attempts that fail on structure are sampled: one node in 64 is timed and stands for
// all. Functions that ran and rewrites that were made are always timed.
//
//   bool timed = counters.startNode(node.op(), rules);
//   counters.count(place, node.op(), Outcome::Declined, ticks);
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

  /// Starts a node on which these rules are tried: always the same rules for an operation, and they must
  /// outlive this object. Returns whether failing attempts on this node are timed.
  bool startNode(Op op, std::span<const uint32_t> tried) {
    uint8_t& place = place_[static_cast<size_t>(op)];
    if (!place) {
      met_.push_back({op, 0, tried, {}});
      place = static_cast<uint8_t>(met_.size());
    }
    ++met_[place - 1u].nodes;
    return ++nodes_ % kSampleEvery == 0;
  }
  /// `place` is the position of the rule among those tried.
  void count(size_t place, Op op, Outcome outcome, uint64_t tickCount) {
    Cell& c = cell(place, op);
    auto o = static_cast<size_t>(outcome);
    ++c.count[o];
    c.ticks[o] += tickCount;
  }
  /// Counts the reason for which a rule declined.
  void countReason(size_t place, Op op, const char* why) {
    auto& reasons = cell(place, op).reasons;
    for (auto& [known, n] : reasons)
      if (known == why) return void(++n);
    reasons.emplace_back(why, 1);
  }
  /// Counts a rule that ended the node without an outcome: it gated the node, or threw.
  void stop(size_t place, Op op) { ++cell(place, op).stopped; }
  /// Appends all non-zero cells, by operation in order of first appearance, then by rule.
  void collect(const std::vector<std::shared_ptr<const Rule>>& rules, std::vector<MatchCount>& out) const;
  /// Appends the reasons in the same order.
  void collectReasons(const std::vector<std::shared_ptr<const Rule>>& rules,
                      std::vector<DeclineCount>& out) const;

private:
  struct Cell {
    std::array<uint64_t, kOutcomeCount> ticks{};
    std::array<uint32_t, kOutcomeCount> count{};
    uint32_t stopped = 0;
    std::vector<std::pair<const char*, uint32_t>> reasons; ///< reasons for declining: few per rule
  };
  struct OfOp {
    Op op;
    uint64_t nodes;
    std::span<const uint32_t> tried;
    std::unique_ptr<Cell[]> cells; ///< one per tried rule; null while all of them rejected early
  };
  Cell& cell(size_t place, Op op) {
    OfOp& of = met_[place_[static_cast<size_t>(op)] - 1u];
    if (!of.cells) of.cells = std::make_unique<Cell[]>(of.tried.size());
    return of.cells[place];
  }

  static_assert(kOpCount < 255);
  std::array<uint8_t, kOpCount> place_{}; ///< position in met_, from 1
  std::vector<OfOp> met_;
  uint32_t nodes_ = 0;
};

} // namespace uopscope
