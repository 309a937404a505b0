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

uint64_t RuleTally::add(std::string_view passName, std::span<const MatchCount> counts) {
  const Pass& in = pass(passName);
  uint64_t applied = 0;
  for (const MatchCount& c : counts) {
    uint32_t rule = rules_.indexOf(*c.rule);
    if (c.rule
            ->definition()) { // a replay asks rules of scripts about nodes that their pattern would rule out
      RuleCount& total = cells_[uint64_t{in.number} << 32 | rule];
      for (int i = 0; i < kOutcomeCount; ++i) {
        total.count[i] += c.count[i];
        total.ns += c.ns[i];
      }
    }
    if (uint64_t n = c.count[int(Outcome::Applied)]) {
      if (rule >= ruleHashes_.size()) ruleHashes_.resize(rule + 1);
      Rule& r = ruleHashes_[rule];
      if (!r.known) r = {true, hashText(c.rule->name())};
      applied += n * appliedHash(in.hash, r.hash);
    }
  }
  return applied;
}

void RuleTally::add(const RuleTally& other) {
  std::vector<uint32_t> numbers(other.passes_.size());
  for (const auto& [name, p] : other.passes_) numbers[p.number] = pass(name).number;
  for (const auto& [key, count] : other.cells_)
    cells_[uint64_t{numbers[key >> 32]} << 32 | (key & 0xFFFFFFFF)] += count;
}

RuleCounts RuleTally::counts() const {
  std::vector<std::string_view> names(passes_.size());
  for (const auto& [name, p] : passes_) names[p.number] = name;
  RuleCounts all;
  for (const auto& [key, count] : cells_) {
    RuleText rule = book_->text(static_cast<uint32_t>(key));
    all[{std::string(names[key >> 32]), rule.name, rule.file, rule.line}] += count;
  }
  return all;
}

} // namespace uopscope
