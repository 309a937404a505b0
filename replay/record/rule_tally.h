// Match statistics summed up over many compilations, by pass and rule.
//
//   RuleTally tally;
//   tally.add("initial symbolic", counts);      // as observed, with no text made
//   RuleCounts all = tally.counts();            // at the end
#pragma once
#include "replay/record/match_sums.h"

#include <memory>

namespace uopscope {

/// Counts of one rule in one pass, in the order of Outcome.
struct RuleCount {
  uint64_t count[kOutcomeCount] = {};
  int64_t ns = 0;
  RuleCount& operator+=(const RuleCount& other);
};
struct RulePlace {
  std::string pass, rule, file;
  int line = 0;
  auto operator<=>(const RulePlace&) const = default;
};
using RuleCounts = std::map<RulePlace, RuleCount>;

class RuleTally {
public:
  RuleTally() : RuleTally(std::make_shared<RuleBook>()) {}
  RuleTally(const RuleTally&) = delete;
  RuleTally& operator=(const RuleTally&) = delete;
  /// A tally for another thread; add() merges it into this one later.
  std::shared_ptr<RuleTally> fork() const;

  /// Adds the counts of a pass. Returns the sum, over applied rules, of the count times appliedHash(pass,
  /// rule); it is equal for compilations that applied the same rules equally often.
  uint64_t add(std::string_view pass, const PassCounts& counts);
  /// Adds a tally that fork() of this one made.
  void add(const RuleTally& other);
  RuleCounts counts() const;
  void clear() { sums_.clear(); }

private:
  struct Pass {
    uint32_t number;
    uint64_t hash;
  };
  struct Rule {
    bool known = false;
    uint64_t hash = 0;
  };
  struct Forked;
  explicit RuleTally(std::shared_ptr<RuleBook> book) : book_(std::move(book)), rules_(*book_) {}
  const Pass& pass(std::string_view name);
  std::shared_ptr<RuleBook> book_;
  RuleCache rules_;
  std::map<std::string, Pass, std::less<>> passes_;
  std::vector<Rule> ruleHashes_;
  std::vector<MatchSums> sums_; ///< by the numbers of passes
};

/// The value that one application of a rule adds to the sum of RuleTally::add.
uint64_t appliedHash(uint64_t passHash, uint64_t ruleHash);

} // namespace uopscope
