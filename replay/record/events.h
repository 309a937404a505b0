// Events on their way from the engine's thread to the writer's: small records of fixed size, in chunks. A
// chunk has one producer and one consumer. Invariant: events below `count` are complete, and the producer
// does not touch them again.
#pragma once
#include "engine/rewrite/counters.h"
#include "engine/rewrite/matcher.h"

#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace uopscope {

enum class EventKind : uint8_t {
  ScopeBegin,
  ScopeEnd,
  PassBegin,
  PassEnd,
  Step,
  RuleError,
  Gate,
  Counts,
  Declines,
  Artifact,
  Launch,
  Origin,
  Unchanged,
  Program,
  Phase,
  Candidate,
  Decision,
  Buffer,
  Output,
  PoolRetired
};

/// The part of an event that does not fit an Event. Its kind decides which members are used.
struct Payload {
  std::string name, file, text;
  int line = 0;
  ScopeKind scope = ScopeKind::Other;
  int64_t flops = 0, bytes = 0, accessed = 0, took = 0, offset = 0;
  uint64_t id = 0, base = 0;             ///< identify a buffer and its base
  uint32_t program = 0;                  ///< Launch: serial of the pool of its linear program
  uint32_t matcher = 0, matcherDown = 0; ///< PassBegin: indexes into the RuleBook's matchers, from 1; 0: none
  std::vector<uint8_t> counts;           ///< packCounts()
  std::vector<TextLine> lines;
  std::vector<const Node*> nodes;
  std::vector<uint64_t> buffers;
  struct Decline {
    uint32_t rule; ///< index into the RuleBook
    const char* why;
    uint64_t count;
  };
  std::vector<Decline> declines;
  std::unique_ptr<Decision> decision;
  std::shared_ptr<Pool> pool; ///< PoolRetired: dies with the event
};

struct Event {
  EventKind kind = EventKind::Step;
  uint8_t flag = 0;             ///< Step: on the way down; PassEnd: PassOutcome
  uint32_t rule = 0;            ///< Step, RuleError: index into the RuleBook; PoolRetired: serial
  const Node* before = nullptr; ///< the node before the rewrite, or a root, or the node itself
  const Node* after = nullptr;
  int64_t ns = 0; ///< Step: the time taken; otherwise the moment
  std::unique_ptr<Payload> payload;
};

struct Chunk {
  static constexpr uint32_t kEvents = 2048;
  std::array<Event, kEvents> events;
  std::atomic<uint32_t> count{0};
};

/// The text of a rule, copied when the rule is first met: a script's rules may be gone before the writer
/// stores them.
struct RuleText {
  std::string name, file, text;
  std::string pattern; ///< of a script's rule; a rule of a table is printed where somebody asks
  int line = 0;
  const RuleDef* native = nullptr; ///< its entry in a table of the engine; null: it stands in a script
  std::string patternText() const;
  /// Whether both are one rule. Rules of tables that stand at one line with one text have one pattern.
  bool isLike(const RuleText& t) const {
    return name == t.name && line == t.line && file == t.file && text == t.text && pattern == t.pattern &&
           !native == !t.native;
  }
};

class RuleCache;

/// All rules that any thread of a recording has met. An index always stands for the same text.
class RuleBook {
public:
  RuleBook();
  /// A cache for one holder. When the holder drops it, the next caller gets it with its content.
  std::shared_ptr<RuleCache> cache();
  uint32_t indexOf(const Rule& rule);
  RuleText text(uint32_t index);
  /// The number of a list of rules, from 1; equal lists have one number.
  uint32_t matcherOf(std::vector<uint32_t> rules);
  const std::vector<uint32_t>& rulesOf(uint32_t matcher); ///< a list never changes

private:
  struct Spare;
  std::shared_ptr<Spare> spare_;
  std::mutex mutex_;
  std::deque<RuleText> texts_;
  std::unordered_multimap<std::string, uint32_t> byName_;
  std::deque<std::vector<uint32_t>> matchers_;
  std::map<std::vector<uint32_t>, uint32_t> matcherIndex_;
};

/// One thread's view of the RuleBook: to find a known rule costs a look at a small table.
class RuleCache {
public:
  explicit RuleCache(RuleBook& book) : book_(book) {}
  uint32_t indexOf(const Rule& rule) {
    const Held& h = held_[slotOf(&rule)];
    return h.rule == &rule ? h.index : find(rule);
  }
  /// RuleBook::matcherOf for this matcher; 0 for null.
  uint32_t matcherOf(const PatternMatcher* matcher);
  /// RuleBook::matcherOf for the rules that this matcher tries on nodes of an operation.
  uint32_t matcherOf(const PatternMatcher& matcher, std::span<const uint32_t> tried) {
    if (auto it = tried_.find(tried.data()); it != tried_.end()) return it->second;
    return findTried(matcher, tried);
  }

private:
  /// A rule whose matcher is held in matchers_, so no new rule can get its address.
  struct Held {
    const Rule* rule = nullptr;
    uint32_t index = 0;
  };
  static constexpr size_t kHeld = 1 << 10;
  static size_t slotOf(const Rule* rule) {
    return static_cast<size_t>(reinterpret_cast<uintptr_t>(rule) * 0x9E3779B97F4A7C15ull >> 54);
  }
  uint32_t find(const Rule& rule);
  uint32_t findTried(const PatternMatcher& matcher, std::span<const uint32_t> tried);
  struct Entry {
    std::string name;
    int line;
    size_t textSize;
    uint32_t index;
  };
  RuleBook& book_;
  std::unordered_map<const Rule*, Entry> known_;
  const Rule* last_ = nullptr;
  const Entry* lastEntry_ = nullptr;
  /// Known matchers by the address of their rules. A held matcher keeps that address its own.
  std::unordered_map<const void*, std::pair<PatternMatcher, uint32_t>> matchers_;
  std::vector<Held> held_ = std::vector<Held>(kHeld);
  std::unordered_map<const uint32_t*, uint32_t> tried_; ///< lists of matchers that are held
};

} // namespace uopscope
