// The book compares rules by their text, not by their address: a script makes and drops matchers, and a new
// rule may get the address of an old one.
#include "replay/record/events.h"

#include "engine/rewrite/rule.h"

namespace uopscope {

/// The caches that nobody uses. It may outlive the book while a cache is still held.
struct RuleBook::Spare {
  std::mutex mutex;
  std::vector<std::unique_ptr<RuleCache>> caches;
};

RuleBook::RuleBook() : spare_(std::make_shared<Spare>()) {}

std::shared_ptr<RuleCache> RuleBook::cache() {
  std::unique_ptr<RuleCache> cache;
  {
    std::lock_guard lock(spare_->mutex);
    if (!spare_->caches.empty()) {
      cache = std::move(spare_->caches.back());
      spare_->caches.pop_back();
    }
  }
  if (!cache) cache = std::make_unique<RuleCache>(*this);
  return {cache.release(), [spare = spare_](RuleCache* held) {
            std::lock_guard lock(spare->mutex);
            spare->caches.emplace_back(held);
          }};
}

uint32_t RuleBook::indexOf(const Rule& rule) {
  const RuleDef* native = rule.definition();
  RuleText text{rule.name(), rule.file(), rule.text(), native ? "" : rule.patternText(), rule.line(), native};
  std::lock_guard lock(mutex_);
  auto [begin, end] = byName_.equal_range(text.name);
  for (auto it = begin; it != end; ++it)
    if (texts_[it->second].isLike(text)) return it->second;
  auto index = static_cast<uint32_t>(texts_.size());
  byName_.emplace(text.name, index);
  texts_.push_back(std::move(text));
  return index;
}

std::string RuleText::patternText() const {
  return native ? Rule(*native).patternText() : pattern;
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

const std::vector<uint32_t>& RuleBook::rulesOf(uint32_t matcher) {
  std::lock_guard lock(mutex_);
  return matchers_.at(matcher - 1);
}

uint32_t RuleCache::matcherOf(const PatternMatcher* matcher) {
  constexpr size_t kMost = 1024; // a script may make matchers in a loop
  if (!matcher) return 0;
  const auto& rules = matcher->rules();
  if (auto it = matchers_.find(&rules); it != matchers_.end()) return it->second.second;
  std::vector<uint32_t> indexes;
  for (const auto& rule : rules) indexes.push_back(indexOf(*rule));
  if (matchers_.size() >= kMost) {
    matchers_.clear();
    tried_.clear();
    held_.assign(kHeld, {});
  }
  for (size_t k = 0; k < rules.size(); ++k) held_[slotOf(rules[k].get())] = {rules[k].get(), indexes[k]};
  return matchers_.emplace(&rules, std::pair(*matcher, book_.matcherOf(std::move(indexes))))
      .first->second.second;
}

uint32_t RuleCache::findTried(const PatternMatcher& matcher, std::span<const uint32_t> tried) {
  matcherOf(&matcher); // holds it, so that no other list gets this address
  std::vector<uint32_t> indexes;
  for (uint32_t place : tried) indexes.push_back(indexOf(*matcher.rules()[place]));
  return tried_.emplace(tried.data(), book_.matcherOf(std::move(indexes))).first->second;
}

uint32_t RuleCache::find(const Rule& rule) {
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
