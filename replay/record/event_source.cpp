// A ForkedSource keeps the events of work on another thread. They are merged in order of their ordinals, each as soon as
// those before it are there, so a trace does not depend on the speed of threads.
#include "replay/record/event_source.h"

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/rewrite/rule.h"
#include "engine/uop/origin.h"
#include "replay/record/match_sums.h"

#include <algorithm>

namespace uopscope {

std::string_view tierName(Tier tier) {
  return tier == Tier::Off ? "off" : tier == Tier::Stats ? "stats" : "full";
}

Tier tierFromName(std::string_view name) {
  for (Tier tier : {Tier::Off, Tier::Stats, Tier::Full})
    if (tierName(tier) == name) return tier;
  throw Error(ErrorKind::Value, "no such tier: " + std::string(name) + "; there are off, stats and full");
}

/// Keeps its events until they are merged. Where a pool retires earlier, its nodes are copied to a pool of
/// the source's own.
class ForkedSource final : public EventSource {
public:
  ForkedSource(uint64_t ordinal, Tier tier, RuleBook& book, RecordingProgress& progress, Observer* alsoCounts,
               std::shared_ptr<const std::string> settings)
      : EventSource(tier, book, progress, alsoCounts, std::move(settings)), ordinal(ordinal) {}

  void poolRetired(Pool& pool) override {
    if (!takeTouched(pool)) return;
    UOpMap<UOp> imported;
    auto keep = [&](const Node*& node) {
      if (!node || node->pool->serial() != pool.serial()) return;
      if (!snapshot) snapshot = std::make_shared<Pool>();
      node = snapshot->import(UOp(node), &imported).node();
    };
    for (Event& event : events) {
      keep(event.before);
      keep(event.after);
      if (event.payload)
        for (const Node*& node : event.payload->nodes) keep(node);
    }
  }

  const uint64_t ordinal;
  std::deque<Event> events;
  std::shared_ptr<Pool> snapshot;

protected:
  Event& next() override { return events.emplace_back(); }
  void publish() override {}
};

namespace {
std::unique_ptr<Payload> payloadOf(std::string_view name, SourceLocation at = {}) {
  auto payload = std::make_unique<Payload>();
  payload->name = name;
  payload->file = at.file;
  payload->line = at.line;
  return payload;
}

} // namespace

/// Estimates the cost of recording: one event in 64 is timed and stands for all. Events that take long are
/// all timed.
class EventSource::Cost {
public:
  static constexpr uint32_t kEvery = 64;
  explicit Cost(EventSource& source, bool always = false)
      : source_(source), weight_(always                           ? 1
                                 : ++source.events_ % kEvery == 0 ? kEvery
                                                                  : 0),
        start_(weight_ ? ticks() : 0) {}
  ~Cost() {
    if (weight_) source_.costTicks_ += (ticks() - start_) * weight_;
  }
  Cost(const Cost&) = delete;
  Cost& operator=(const Cost&) = delete;

private:
  EventSource& source_;
  uint32_t weight_;
  uint64_t start_;
};

void EventSource::addUpCost() {
  progress_.observingTicks.fetch_add(costTicks_, std::memory_order_relaxed);
  costTicks_ = 0;
}

struct EventSource::Joined {
  std::unique_ptr<Observer> owner;
  ForkedSource* source;
};

EventSource::EventSource(Tier tier, RuleBook& book, RecordingProgress& progress, Observer* alsoCounts,
                         std::shared_ptr<const std::string> settings)
    : tier_(tier), book_(book), progress_(progress), alsoCounts_(alsoCounts),
      settingsAtBegin_(std::move(settings)), rules_(book.cache()) {
  if (!settingsAtBegin_) settingsAtBegin_ = std::make_shared<const std::string>(settings_.json());
}
EventSource::~EventSource() = default;

bool EventSource::takeTouched(const Pool& pool) {
  lastPool_ = nullptr;
  return touched_.erase(pool.serial()) > 0;
}

void EventSource::onScopeBegin(const ScopeBegin& begin) {
  Event& e = next();
  e.kind = EventKind::ScopeBegin;
  e.before = graph(begin.root);
  e.ns = nowNs();
  e.payload = payloadOf(begin.name, begin.script);
  e.payload->scope = begin.kind;
  publish();
  const bool compiles = begin.kind == ScopeKind::Kernel || begin.kind == ScopeKind::Schedule;
  if (compiles && begin.root && settings_.json() != *settingsAtBegin_)
    onArtifact({"settings", settings_.json()});
  if (begin.kind == ScopeKind::Kernel) progress_.kernels.fetch_add(1, std::memory_order_relaxed);
}

void EventSource::onScopeEnd() {
  Event& e = next();
  e.kind = EventKind::ScopeEnd;
  e.ns = nowNs();
  publish();
}

void EventSource::onPassBegin(const PassBegin& begin) {
  Cost cost(*this);
  Event& e = next();
  e.kind = EventKind::PassBegin;
  e.before = graph(begin.root);
  e.ns = nowNs();
  e.payload = payloadOf(begin.name, begin.at);
  e.payload->matcher = rules_->matcherOf(begin.matcher);
  e.payload->matcherDown = rules_->matcherOf(begin.bottomUp);
  publish();
}

void EventSource::onPassEnd(const PassEnd& end) {
  Cost cost(*this);
  Event& e = next();
  e.kind = EventKind::PassEnd;
  e.flag = static_cast<uint8_t>(end.outcome);
  e.before = graph(end.root);
  e.ns = nowNs();
  if (!end.message.empty()) e.payload = payloadOf(end.message);
  publish();
}

Control EventSource::onRewrite(const RewriteEvent& event) {
  Cost cost(*this);
  Event& e = next();
  e.kind = EventKind::Step;
  e.flag = event.bottomUp ? 1 : 0;
  e.rule = rules_->indexOf(*event.rule);
  e.before = touch(event.before);
  e.after = touch(event.after);
  e.ns = event.ns;
  publish();
  return Control::Apply;
}

void EventSource::onGate(UOp node) {
  Event& e = next();
  e.kind = EventKind::Gate;
  e.before = touch(node);
  publish();
}

void EventSource::onUnchanged(const Rule& rule, UOp node) {
  Event& e = next();
  e.kind = EventKind::Unchanged;
  e.rule = rules_->indexOf(rule);
  e.before = touch(node);
  publish();
}

void EventSource::onRuleError(const Rule& rule, UOp before, std::string_view message) {
  Event& e = next();
  e.kind = EventKind::RuleError;
  e.rule = rules_->indexOf(rule);
  e.before = touch(before);
  e.payload = payloadOf(message);
  publish();
}

void EventSource::onCounts(const PassCounts& counts) {
  Cost cost(*this, /*always=*/true);
  if (alsoCounts_) alsoCounts_->onCounts(counts);
  auto payload = std::make_unique<Payload>();
  payload->counts = packCounts(counts, *rules_);
  Event& e = next();
  e.kind = EventKind::Counts;
  e.payload = std::move(payload);
  publish();
}

void EventSource::onDeclines(std::span<const DeclineCount> declines) {
  Cost cost(*this, /*always=*/true);
  auto payload = std::make_unique<Payload>();
  payload->declines.reserve(declines.size());
  for (const DeclineCount& d : declines)
    payload->declines.push_back({rules_->indexOf(*d.rule), d.why, d.count});
  Event& e = next();
  e.kind = EventKind::Declines;
  e.payload = std::move(payload);
  publish();
}

void EventSource::onArtifact(const Artifact& artifact) {
  Cost cost(*this, /*always=*/true);
  Event& e = next();
  e.kind = EventKind::Artifact;
  e.payload = payloadOf(artifact.kind);
  e.payload->text = artifact.text;
  e.payload->lines.assign(artifact.lines.begin(), artifact.lines.end());
  publish();
}

void EventSource::onProgram(std::span<const UOp> program) {
  Cost cost(*this, /*always=*/true);
  if (tier_ != Tier::Full) return;
  Event& e = next();
  e.kind = EventKind::Program;
  e.payload = std::make_unique<Payload>();
  for (UOp u : program) e.payload->nodes.push_back(touch(u));
  publish();
}

void EventSource::onPhase(const Phase& phase) {
  Event& e = next();
  e.kind = EventKind::Phase;
  e.ns = phase.startNs;
  e.payload = payloadOf(phase.name);
  e.payload->took = phase.durationNs;
  publish();
}

void EventSource::onCandidate(const Candidate& candidate) {
  Event& e = next();
  e.kind = EventKind::Candidate;
  e.payload = payloadOf(candidate.message);
  e.payload->text = candidate.opts;
  e.payload->took = candidate.durationNs;
  publish();
}

void EventSource::onDecision(const Decision& decision) {
  if (tier_ != Tier::Full) return;
  Event& e = next();
  e.kind = EventKind::Decision;
  e.payload = std::make_unique<Payload>();
  e.payload->decision = std::make_unique<Decision>(decision);
  publish();
}

void EventSource::onBuffer(const BufferEvent& buffer) {
  Event& e = next();
  e.kind = EventKind::Buffer;
  e.flag = buffer.freed;
  e.ns = nowNs();
  e.payload = payloadOf(buffer.dtype);
  e.payload->text = buffer.device;
  e.payload->bytes = buffer.bytes;
  e.payload->offset = buffer.offset;
  e.payload->id = buffer.id;
  e.payload->base = buffer.base;
  publish();
}

void EventSource::onOutput(std::string_view stream, std::string_view text) {
  Event& e = next();
  e.kind = EventKind::Output;
  e.ns = nowNs();
  e.payload = payloadOf(stream);
  e.payload->text = text;
  publish();
}

void EventSource::onLaunch(const Launch& launch) {
  Cost cost(*this, /*always=*/true);
  Event& e = next();
  e.kind = EventKind::Launch;
  e.ns = launch.startNs;
  e.payload = payloadOf(launch.kernel);
  e.payload->text = launch.device;
  e.payload->flops = launch.flops;
  e.payload->bytes = launch.bytes;
  e.payload->accessed = launch.accessed;
  e.payload->took = launch.durationNs;
  e.payload->program = launch.program ? launch.program->serial() : 0;
  e.payload->buffers.assign(launch.buffers.begin(), launch.buffers.end());
  publish();
  progress_.launches.fetch_add(1, std::memory_order_relaxed);
}

void EventSource::onOrigin(const Origin& origin) {
  if (tier_ != Tier::Full) return;
  Cost cost(*this);
  Event& e = next();
  e.kind = EventKind::Origin;
  e.before = touch(origin.node);
  e.payload = payloadOf(origin.operation, origin.script);
  if (const NodeOrigin* first = originOf(origin.node)) e.payload->text = first->calls;
  publish();
}

void EventSource::poolDone(std::shared_ptr<Pool> pool) {
  if (!takeTouched(*pool)) return;
  const size_t bytes = pool->bytes();
  Event& e = next();
  e.kind = EventKind::PoolRetired;
  e.rule = pool->serial();
  e.payload = std::make_unique<Payload>();
  e.payload->pool = std::move(pool);
  publish();
  keptPool(bytes);
}

std::unique_ptr<Observer> EventSource::fork(uint64_t ordinal) {
  if (ordinal != kOfOtherThread && outstanding_++ == 0) nextOrdinal_ = ordinal;
  return std::make_unique<ForkedSource>(ordinal, tier_, book_, progress_, alsoCounts_, settingsAtBegin_);
}

void EventSource::join(std::unique_ptr<Observer> child) {
  Cost cost(*this, /*always=*/true);
  auto* source = dynamic_cast<ForkedSource*>(child.get());
  if (!source) return;
  source->addUpCost();
  if (source->ordinal == kOfOtherThread) return take(*source);
  auto joined = std::make_unique<Joined>();
  joined->owner = std::move(child);
  joined->source = source;
  auto later = [](uint64_t ordinal, const auto& j) { return ordinal < j->source->ordinal; };
  joined_.insert(std::upper_bound(joined_.begin(), joined_.end(), source->ordinal, later), std::move(joined));
  --outstanding_;
  while (!joined_.empty() && (outstanding_ == 0 || joined_.front()->source->ordinal == nextOrdinal_)) {
    const std::unique_ptr<Joined> first = std::move(joined_.front());
    joined_.erase(joined_.begin());
    take(*first->source);
    ++nextOrdinal_;
  }
}

void EventSource::take(ForkedSource& source) {
  for (Event& event : source.events) {
    const std::shared_ptr<Pool> done = event.payload ? event.payload->pool : nullptr;
    touch(UOp(event.before));
    touch(UOp(event.after));
    if (event.payload)
      for (const Node* node : event.payload->nodes) touch(UOp(node));
    next() = std::move(event);
    if (done) takeTouched(*done);
    publish();
    if (done) keptPool(done->bytes());
  }
  source.events.clear();
  if (source.snapshot) poolDone(std::move(source.snapshot));
}

} // namespace uopscope
