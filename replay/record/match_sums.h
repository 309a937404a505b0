// Sums of attempts to match over passes. A pass leaves a few bytes: for each operation its number of nodes and the
// rules tried, and the cells of the rules that did more than reject early. Sums keep that form, since early rejections
// of a sum are those of its parts together; forEach computes them once, at the end.
//
//   std::vector<uint8_t> bytes = packCounts(counts, cache);      // on the compiling thread
//   sums.add(bytes);                                             // on any
//   sums.forEach(book, [](uint32_t rule, Op op, const MatchCell& cell) { ... });
#pragma once
#include "replay/record/events.h"
#include "replay/schema/match_counts.h"

namespace uopscope {

/// The counts of a pass in few bytes, to pass them between threads. Rules are named by their lists in the RuleBook.
std::vector<uint8_t> packCounts(const PassCounts& counts, RuleCache& rules);

class MatchSums {
public:
  /// Adds what packCounts() made. Returns the number of matches among it: rewrites, and rules that changed nothing.
  uint64_t add(std::span<const uint8_t> packed);
  void add(const MatchSums& other);
  bool empty() const { return ofOp_.empty(); }
  /// Calls `use` for every rule that was tried on an operation. `rule` is an index into the book.
  void forEach(RuleBook& book, const std::function<void(uint32_t rule, Op op, const MatchCell&)>& use) const;

  /// The cells of a rule that did more than reject early.
  struct Cell {
    uint32_t place = 0;   ///< in the list of rules
    uint64_t stopped = 0; ///< nodes that ended at this rule without an outcome
    MatchCell sum;
  };
  struct OfOp {
    uint32_t list = 0; ///< RuleBook::rulesOf
    Op op{};
    uint64_t nodes = 0;
    std::vector<Cell> cells{}; ///< in order of their places
    Cell& at(uint32_t place);
    /// The cells of all rules that nodes of the operation reached, in order of their places; `out[k]` belongs to the k-th
    /// rule of the list. Rules at its end that no node reached have no cell.
    void spellOut(size_t rules, std::vector<MatchCell>& out) const;
  };
  /// In order of operations, lists of one operation in order of their first appearance.
  std::vector<const OfOp*> inOrder() const;

private:
  OfOp& of(uint32_t list, Op op);

  std::vector<OfOp> ofOp_; ///< in order of first appearance
  std::unordered_map<uint64_t, uint32_t> places_;
};

} // namespace uopscope
