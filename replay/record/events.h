// What the engine's thread leaves for the writer's: small records of fixed size, in chunks. A chunk has one
// producer and one consumer: events below `count` are complete and are not touched by the producer again.
#pragma once
#include "engine/rewrite/observer.h"

#include <array>
#include <atomic>
#include <deque>
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
  Artifact,
  Launch,
  Origin,
  PoolRetired
};

/// One cell of the match statistics.
struct CountCell {
  uint32_t rule; ///< index into the RuleBook
  Op op;
  Outcome outcome;
  uint64_t count;
  int64_t ns;
};

/// What does not fit an Event. Which members are used depends on the kind.
struct Payload {
  std::string name, file, text;
  int line = 0;
  ScopeKind scope = ScopeKind::Other;
  int64_t flops = 0, bytes = 0, took = 0;
  std::vector<CountCell> counts;
};

struct Event {
  EventKind kind = EventKind::Step;
  uint8_t flag = 0;             ///< Step: on the way down; PassEnd: PassOutcome
  uint32_t rule = 0;            ///< Step, RuleError: index into the RuleBook; PoolRetired: serial
  const Node* before = nullptr; ///< or the root, or the node
  const Node* after = nullptr;
  int64_t ns = 0; ///< Step: time taken; others: when
  std::unique_ptr<Payload> payload;
};

struct Chunk {
  static constexpr uint32_t kEvents = 2048;
  std::array<Event, kEvents> events;
  std::atomic<uint32_t> count{0};
};

/// What a rule looks like, copied when it is first met: rules of a script may be gone before they are
/// written.
struct RuleText {
  std::string name, file, text, pattern;
  int line = 0;
  bool operator==(const RuleText&) const = default;
};

/// Rules met by any thread of a recording. An index stands for the same text for ever.
class RuleBook {
public:
  uint32_t indexOf(const Rule& rule);
  RuleText text(uint32_t index);

private:
  std::mutex mutex_;
  std::deque<RuleText> texts_;
  std::unordered_multimap<std::string, uint32_t> byName_;
};

/// The RuleBook as one thread sees it: a rule met before costs a look at a small table.
class RuleCache {
public:
  explicit RuleCache(RuleBook& book) : book_(book) {}
  uint32_t indexOf(const Rule& rule);

private:
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
};

} // namespace uopscope
