// The engine's side of a recording: turns what an Observer is told into events. Does nothing else: no hashing
// of nodes, no file, no lock, so that an observed rewrite costs a few nanoseconds more than an unobserved
// one.
#pragma once
#include "replay/record/events.h"
#include "replay/record/settings.h"

#include <unordered_set>

namespace uopscope {

enum class Tier : uint8_t {
  Off,   ///< nothing
  Stats, ///< scopes, passes, counts of attempts, texts
  Full   ///< and every applied rewrite
};
std::string_view tierName(Tier tier);
Tier tierFromName(std::string_view name); ///< Error(Value) that lists the tiers

/// Numbers another process (or thread) may watch, and a wish it may have. Lives in shared memory where there
/// are two.
struct RecordingProgress {
  std::atomic<bool> stop{
      false}; ///< set from outside: the next rewrite ends with Error(Runtime) "interrupted"
  std::atomic<uint64_t> steps{0}, kernels{0}, launches{0};
  std::atomic<uint64_t> rowsWritten{0};
  std::atomic<uint64_t> observingTicks{
      0}; ///< what recording took of the threads that compile, as far as added up
  std::atomic<bool> began{false}, diskFull{false};
};

class EventSource : public Observer {
public:
  /// `settings`: those the trace already names; null: those of now.
  EventSource(Tier tier, RuleBook& book, RecordingProgress& progress, Observer* alsoCounts,
              std::shared_ptr<const std::string> settings = nullptr);

  bool wantsRewrites() const override { return tier_ == Tier::Full; }
  bool wantsCounts() const override { return tier_ != Tier::Off; }
  const std::atomic<bool>* stopFlag() const override { return &progress_.stop; }
  void onScopeBegin(const ScopeBegin& begin) override;
  void onScopeEnd() override;
  void onPassBegin(const PassBegin& begin) override;
  void onPassEnd(const PassEnd& end) override;
  Control onRewrite(const RewriteEvent& event) override;
  void onGate(UOp node) override;
  void onUnchanged(const Rule& rule, UOp node) override;
  void onRuleError(const Rule& rule, UOp before, std::string_view message) override;
  void onCounts(std::span<const MatchCount> counts) override;
  void onDeclines(std::span<const DeclineCount> declines) override;
  void onArtifact(const Artifact& artifact) override;
  void onProgram(std::span<const UOp> program) override;
  void onPhase(const Phase& phase) override;
  void onCandidate(const Candidate& candidate) override;
  void onDecision(const Decision& decision) override;
  void onBuffer(const BufferEvent& buffer) override;
  void onOutput(std::string_view stream, std::string_view text) override;
  void onLaunch(const Launch& launch) override;
  void onOrigin(const Origin& origin) override;
  std::unique_ptr<Observer> fork(uint64_t ordinal) override;
  void join(std::unique_ptr<Observer> child) override;

protected:
  /// Whether an event since the last such question refers to a node of the pool; forgets the pool.
  bool takeTouched(const Pool& pool);
  /// The event to fill in; publish() makes it visible.
  virtual Event& next() = 0;
  virtual void publish() = 0;

  /// Adds what this thread has spent on events to the progress.
  void addUpCost();

  Tier tier_;
  RuleBook& book_;
  RecordingProgress& progress_;
  Observer* alsoCounts_;
  std::shared_ptr<const std::string> settingsAtBegin_;

private:
  class Cost;
  const Node* touch(UOp u) {
    if (u && u.node()->pool != lastPool_) {
      lastPool_ = u.node()->pool;
      touched_.insert(lastPool_->serial());
    }
    return u.node();
  }

  uint64_t costTicks_ = 0;
  uint32_t events_ = 0;
  const Pool* lastPool_ = nullptr;
  std::unordered_set<uint32_t> touched_;
  std::shared_ptr<RuleCache> rules_;
  Settings settings_;
  struct Joined;
  size_t outstanding_ = 0;
  std::vector<std::unique_ptr<Joined>> joined_;

public:
  ~EventSource() override;
};

} // namespace uopscope
