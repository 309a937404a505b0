// The book compares rules by their text, not by their address: a script makes and drops matchers, and a new
// rule may get the address of an old one.
#include "replay/record/events.h"

#include "engine/rewrite/rule.h"

#include <bit>

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
  constexpr size_t kMost = 1024; // a script may make matchers in a loop
  if (!matcher) return 0;
  const auto& rules = matcher->rules();
  if (auto it = matchers_.find(&rules); it != matchers_.end()) return it->second.second;
  std::vector<uint32_t> indexes;
  for (const auto& rule : rules) indexes.push_back(indexOf(*rule));
  if (matchers_.size() >= kMost) {
    matchers_.clear();
    held_.assign(kHeld, {});
  }
  for (size_t k = 0; k < rules.size(); ++k) held_[slotOf(rules[k].get())] = {rules[k].get(), indexes[k]};
  return matchers_.emplace(&rules, std::pair(*matcher, book_.matcherOf(std::move(indexes))))
      .first->second.second;
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

// Layout of a cell: the rule, the operation, a mask of the non-zero values among the ten, and those values.
std::vector<uint8_t> packCounts(std::span<const MatchCount> counts, RuleCache& rules) {
  constexpr size_t kMost = 10 * (2 + 2 * kOutcomeCount) + 1; // bytes of one cell at most
  std::vector<uint8_t> out(counts.size() * 8 + kMost);
  uint8_t* at = out.data();
  auto put = [&](uint64_t value) {
    for (; value >= 0x80; value >>= 7) *at++ = static_cast<uint8_t>(value | 0x80);
    *at++ = static_cast<uint8_t>(value);
  };
  for (const MatchCount& c : counts) {
    if (auto used = static_cast<size_t>(at - out.data()); out.size() - used < kMost) {
      out.resize(out.size() * 2);
      at = out.data() + used;
    }
    uint64_t mask = 0;
    for (int k = 0; k < kOutcomeCount; ++k)
      mask |= uint64_t{c.count[k] != 0} << k | uint64_t{c.ns[k] > 0} << (k + kOutcomeCount);
    put(rules.indexOf(*c.rule));
    *at++ = static_cast<uint8_t>(c.op);
    put(mask);
    for (uint64_t left = mask; left; left &= left - 1) {
      int k = std::countr_zero(left);
      put(k < kOutcomeCount ? c.count[k] : static_cast<uint64_t>(c.ns[k - kOutcomeCount]));
    }
  }
  out.resize(static_cast<size_t>(at - out.data()));
  return out;
}

void unpackCounts(std::span<const uint8_t> bytes,
                  const std::function<void(uint32_t, Op, const MatchCell&)>& use) {
  Leb128Reader in(bytes);
  for (uint64_t rule, op, mask; in.next(rule) && in.next(op) && in.next(mask);) {
    MatchCell cell;
    for (size_t k = 0; k < kMatchOutcomes; ++k)
      if (mask >> k & 1) in.next(cell.count[k]);
    for (size_t k = 0; k < kMatchOutcomes; ++k)
      if (uint64_t ns = 0; mask >> (k + kMatchOutcomes) & 1) {
        in.next(ns);
        cell.ns[k] = static_cast<int64_t>(ns);
      }
    use(static_cast<uint32_t>(rule), static_cast<Op>(op), cell);
  }
}

} // namespace uopscope
