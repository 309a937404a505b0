// Rules are told apart by what they say, not by where they lie: a script makes and drops matchers, and a new
// rule may get the address of an old one.
#include "replay/record/events.h"

#include "engine/rewrite/rule.h"

namespace uopscope {

uint32_t RuleBook::indexOf(const Rule& rule) {
  RuleText text{rule.name(), rule.file(), rule.text(), rule.patternText(), rule.line()};
  std::lock_guard lock(mutex_);
  auto [begin, end] = byName_.equal_range(text.name);
  for (auto it = begin; it != end; ++it)
    if (texts_[it->second] == text) return it->second;
  auto index = static_cast<uint32_t>(texts_.size());
  byName_.emplace(text.name, index);
  texts_.push_back(std::move(text));
  return index;
}

RuleText RuleBook::text(uint32_t index) {
  std::lock_guard lock(mutex_);
  return texts_.at(index);
}

uint32_t RuleBook::matcherOf(std::vector<uint32_t> rules) {
  std::lock_guard lock(mutex_);
  auto [it, fresh] = matcherIndex_.try_emplace(std::move(rules), static_cast<uint32_t>(matchers_.size()) + 1);
  if (fresh) matchers_.push_back(it->first);
  return it->second;
}

std::vector<uint32_t> RuleBook::rulesOf(uint32_t matcher) {
  std::lock_guard lock(mutex_);
  return matchers_.at(matcher - 1);
}

uint32_t RuleCache::matcherOf(const PatternMatcher* matcher) {
  constexpr size_t kMost = 1024; // a script that makes matchers in a loop
  if (!matcher) return 0;
  const auto& rules = matcher->rules();
  if (auto it = matchers_.find(&rules); it != matchers_.end()) return it->second.second;
  std::vector<uint32_t> indexes;
  for (const auto& rule : rules) indexes.push_back(indexOf(*rule));
  if (matchers_.size() >= kMost) matchers_.clear();
  return matchers_.emplace(&rules, std::pair(*matcher, book_.matcherOf(std::move(indexes))))
      .first->second.second;
}

uint32_t RuleCache::indexOf(const Rule& rule) {
  const Entry* entry = &rule == last_ ? lastEntry_ : nullptr;
  if (!entry)
    if (auto it = known_.find(&rule); it != known_.end()) entry = &it->second;
  if (!entry || entry->line != rule.line() || entry->textSize != rule.text().size() ||
      entry->name != rule.name())
    entry = &(known_[&rule] = {rule.name(), rule.line(), rule.text().size(), book_.indexOf(rule)});
  last_ = &rule;
  lastEntry_ = entry;
  return entry->index;
}

} // namespace uopscope
