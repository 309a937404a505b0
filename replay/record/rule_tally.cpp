// Sums are kept by the numbers of rules; texts are made only on demand.
#include "replay/record/rule_tally.h"

#include "engine/rewrite/rule.h"
#include "replay/record/story.h"

namespace uopscope {

RuleCount& RuleCount::operator+=(const RuleCount& other) {
  for (int i = 0; i < kOutcomeCount; ++i) count[i] += other.count[i];
  ns += other.ns;
  return *this;
}

uint64_t appliedHash(uint64_t passHash, uint64_t ruleHash) {
  return hashMix(passHash, ruleHash) | 1;
}

struct RuleTally::Forked : RuleTally {
  explicit Forked(std::shared_ptr<RuleBook> book) : RuleTally(std::move(book)) {}
};
std::shared_ptr<RuleTally> RuleTally::fork() const {
  return std::make_shared<Forked>(book_);
}

const RuleTally::Pass& RuleTally::pass(std::string_view name) {
  auto it = passes_.find(name);
  if (it == passes_.end())
    it = passes_.emplace(name, Pass{static_cast<uint32_t>(passes_.size()), hashText(name)}).first;
  return it->second;
}

uint64_t RuleTally::add(std::string_view passName, const PassCounts& counts) {
  const Pass& in = pass(passName);
  if (in.number >= sums_.size()) sums_.resize(in.number + 1);
  sums_[in.number].add(packCounts(counts, rules_));
  uint64_t applied = 0;
  for (const auto& [matcher, counters] : counts.parts())
    for (const MatchCounters::Cell& c : counters->cells())
      if (const uint64_t n = c.count[static_cast<size_t>(Outcome::Applied)]) {
        const uopscope::Rule& made = *matcher->rules()[counters->met()[c.met].tried[c.place]];
        const uint32_t rule = rules_.indexOf(made);
        if (rule >= ruleHashes_.size()) ruleHashes_.resize(rule + 1);
        Rule& r = ruleHashes_[rule];
        if (!r.known) r = {true, hashText(made.name())};
        applied += n * appliedHash(in.hash, r.hash);
      }
  return applied;
}

void RuleTally::add(const RuleTally& other) {
  for (const auto& [name, p] : other.passes_) {
    if (p.number >= other.sums_.size()) continue;
    const uint32_t number = pass(name).number;
    if (number >= sums_.size()) sums_.resize(number + 1);
    sums_[number].add(other.sums_[p.number]);
  }
}

RuleCounts RuleTally::counts() const {
  RuleCounts all;
  for (const auto& [name, p] : passes_) {
    if (p.number >= sums_.size()) continue;
    std::map<uint32_t, RuleCount> ofRule;
    sums_[p.number].forEach(*book_, [&](uint32_t rule, Op, const MatchCell& cell) {
      RuleCount& total = ofRule[rule];
      for (size_t i = 0; i < kMatchOutcomes; ++i) {
        total.count[i] += cell.count[i];
        total.ns += cell.ns[i];
      }
    });
    for (const auto& [index, count] : ofRule)
      // A replay asks rules of scripts about nodes that their pattern would rule out.
      if (const RuleText rule = book_->text(index); rule.native)
        all[{name, rule.name, rule.file, rule.line}] += count;
  }
  return all;
}

} // namespace uopscope
