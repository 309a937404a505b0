// Counts of the attempts of one pass. A cell holds the outcomes of a rule on the nodes of an operation; it is made when the
// rule does more than reject early, since most passes are short and most rules reject.
//
// Early rejections are by far the most attempts, and counting them costs nothing. A rule is reached by every
// node that no earlier rule rewrote, so it rejected early all reached nodes for which it has no recorded
// outcome. PassCounts::forEach computes them, on whatever thread wants them. The times of attempts that fail on
// structure are sampled: one node in 64 is timed and stands for all. Functions that ran and rewrites that were made are
// always timed.
//
//   bool timed = counters.startNode(node.op(), rules);
//   counters.count(place, node.op(), Outcome::Declined, ticks);
#pragma once
#include "engine/base/clock.h"
#include "engine/rewrite/observer.h"

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace uopscope {

class MatchCounters {
public:
  static constexpr uint32_t kSampleEvery = 64;
  static constexpr uint32_t kNone = UINT32_MAX;

  /// The outcomes of one rule on the nodes of one operation, without early rejections.
  struct Cell {
    uint32_t met = 0;     ///< position of the operation in met()
    uint32_t place = 0;   ///< of the rule among those tried
    uint32_t stopped = 0; ///< nodes that ended here without an outcome: the rule gated them, or threw
    uint32_t firstReason = kNone;
    std::array<uint32_t, kOutcomeCount> count{};
    std::array<uint64_t, kOutcomeCount> ticks{};
  };
  struct OfOp {
    Op op;
    uint64_t nodes = 0;
    std::span<const uint32_t> tried; ///< positions among the rules of the matcher
    std::unique_ptr<uint16_t[]>
        cellOf{}; ///< for each rule tried, its place in cells() from 1; null: no rule has a cell
  };

  /// Starts a node on which these rules are tried: always the same rules for an operation, and they must
  /// outlive this object. Returns whether failing attempts on this node are timed.
  bool startNode(Op op, std::span<const uint32_t> tried) {
    uint8_t& place = place_[static_cast<size_t>(op)];
    if (!place) {
      met_.push_back({op, 0, tried});
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
  void countReason(size_t place, Op op, const char* why);
  /// Counts a rule that ended the node without an outcome.
  void stop(size_t place, Op op) { ++cell(place, op).stopped; }

  /// Operations in order of first appearance, and cells in the order in which they were made.
  std::span<const OfOp> met() const { return met_; }
  std::span<const Cell> cells() const { return cells_; }
  /// Appends the reasons for which the rules declined.
  void collectReasons(const std::vector<std::shared_ptr<const Rule>>& rules,
                      std::vector<DeclineCount>& out) const;

private:
  struct Reason {
    const char* why;
    uint32_t count, next; ///< next: of the same cell
  };
  Cell& cell(size_t place, Op op) {
    const uint32_t met = place_[static_cast<size_t>(op)] - 1u;
    OfOp& of = met_[met];
    if (!of.cellOf || !of.cellOf[place]) [[unlikely]]
      return addCell(met, place);
    return cells_[of.cellOf[place] - 1u];
  }
  Cell& addCell(uint32_t met, size_t place);

  static_assert(kOpCount < 255);
  std::array<uint8_t, kOpCount> place_{}; ///< position in met_, from 1
  std::vector<OfOp> met_;
  std::vector<Cell> cells_;
  std::vector<Reason> reasons_;
  uint32_t nodes_ = 0;
};

/// The attempts of a pass, as an observer gets them. Valid during Observer::onCounts.
class PassCounts {
public:
  struct Part {
    const PatternMatcher* matcher;
    const MatchCounters* counters;
  };
  explicit PassCounts(std::span<const Part> parts) : parts_(parts) {}
  /// One for each matcher of the pass, the one for the way down first.
  std::span<const Part> parts() const { return parts_; }
  /// Calls `use` for every rule that was tried on nodes of an operation, early rejections included.
  void forEach(const std::function<void(const MatchCount&)>& use) const;
  std::vector<MatchCount> all() const;

private:
  std::span<const Part> parts_;
};

} // namespace uopscope
