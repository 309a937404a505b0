// Counts of attempts of one pass, kept in plain arrays by operation and rule while the pass runs. An array is
// made when a node of its operation is first tried: many passes are short, and see few operations.
//
// Early rejections, by far the most, cost nothing to count: a rule is reached by every node that no rule
// before it rewrote, so what it did not do otherwise it rejected early. Times of attempts that fail on
// structure are sampled (one node in 64 is timed and stands for all); functions that ran and rewrites that
// were made are always timed.
#pragma once
#include "engine/base/clock.h"
#include "engine/rewrite/observer.h"

#include <array>
#include <memory>
#include <vector>

namespace uopscope {

class MatchCounters {
public:
  static constexpr uint32_t kSampleEvery = 64;

  explicit MatchCounters(size_t ruleCount) : ruleCount_(ruleCount) {}

  /// Starts a node that these rules are tried on (always the same ones for an operation; they outlive this);
  /// whether its failing attempts are timed.
  bool startNode(Op op, std::span<const uint32_t> tried) {
    OfOp& of = ofOp(op);
    of.tried = tried;
    ++of.nodes;
    return ++nodes_ % kSampleEvery == 0;
  }
  void count(size_t rule, Op op, Outcome outcome, uint64_t tickCount) {
    Cell& c = ofOp(op).cells[rule];
    auto o = static_cast<size_t>(outcome);
    ++c.count[o];
    c.ticks[o] += tickCount;
  }
  /// The rule ended the node without an outcome: it gated the node, or threw.
  void stop(size_t rule, Op op) { ++ofOp(op).cells[rule].stopped; }
  /// All cells that counted something, in order of rules and operations.
  std::vector<MatchCount> collect(const std::vector<std::shared_ptr<const Rule>>& rules) const;

private:
  struct Cell {
    std::array<uint64_t, kOutcomeCount> ticks{};
    std::array<uint32_t, kOutcomeCount> count{};
    uint32_t stopped = 0;
  };
  struct OfOp {
    std::unique_ptr<Cell[]> cells;
    std::span<const uint32_t> tried;
    uint64_t nodes = 0;
  };
  OfOp& ofOp(Op op) {
    OfOp& o = ofOps_[static_cast<size_t>(op)];
    if (!o.cells) o.cells = std::make_unique<Cell[]>(ruleCount_);
    return o;
  }

  size_t ruleCount_;
  std::array<OfOp, kOpCount> ofOps_;
  uint32_t nodes_ = 0;
};

} // namespace uopscope
