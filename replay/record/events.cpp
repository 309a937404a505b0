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
