// Counts of attempts of one pass, kept in plain arrays by operation and rule while the pass runs. An array is
// made when a node of its operation is first tried: many passes are short, and see few operations.
//
// Every attempt is counted; early rejections, by far the most, in a dense array of their own. Times of
// attempts that fail are sampled (one node in 64 is timed and stands for all); functions that ran and
// rewrites that were made are always timed.
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

  /// Counts of early rejections by rule, for nodes of the operation.
  uint32_t* earlyOf(Op op) { return ofOp(op).early.get(); }
  /// Starts a node; whether its failing attempts are timed.
  bool startNode() { return ++nodes_ % kSampleEvery == 0; }
  void count(size_t rule, Op op, Outcome outcome, uint64_t tickCount) {
    Cell& c = ofOp(op).cells[rule];
    auto o = static_cast<size_t>(outcome);
    ++c.count[o];
    c.ticks[o] += tickCount;
  }
  /// All cells that counted something, in order of rules and operations.
  std::vector<MatchCount> collect(const std::vector<std::shared_ptr<const Rule>>& rules) const;

private:
  struct Cell {
    std::array<uint64_t, kOutcomeCount> ticks{};
    std::array<uint32_t, kOutcomeCount> count{};
  };
  struct OfOp {
    std::unique_ptr<Cell[]> cells;
    std::unique_ptr<uint32_t[]> early;
  };
  OfOp& ofOp(Op op) {
    OfOp& o = ofOps_[static_cast<size_t>(op)];
    if (!o.cells) o = {std::make_unique<Cell[]>(ruleCount_), std::make_unique<uint32_t[]>(ruleCount_)};
    return o;
  }

  size_t ruleCount_;
  std::array<OfOp, kOpCount> ofOps_;
  uint32_t nodes_ = 0;
};

} // namespace uopscope
