// The engine's side of a recording: turns the calls of an Observer into events. It hashes no node, writes no
// file and takes no lock, so an observed rewrite costs only a few nanoseconds more than an unobserved one.
#pragma once
#include "replay/record/events.h"
#include "replay/record/settings.h"

#include <unordered_set>

namespace uopscope {

enum class Tier : uint8_t {
  Off,   ///< nothing
  Stats, ///< scopes, passes, counts of attempts, sources and Opts of kernels; neither IR nor assembly
  Full   ///< the data of Stats and every applied rewrite
};
std::string_view tierName(Tier tier);
Tier tierFromName(std::string_view name); ///< Error(Value) lists the tiers

/// Counters that another process or thread may watch, and its request to stop. They lie in shared memory
/// where two processes share them.
struct RecordingProgress {
  std::atomic<bool> stop{false}; ///< set from outside: the next rewrite throws Error(Runtime) "interrupted"
  std::atomic<uint64_t> steps{0}, kernels{0}, launches{0};
  std::atomic<uint64_t> rowsWritten{0};
  std::atomic<uint64_t> observingTicks{
      0}; ///< time that recording took on the compiling threads, as far as added up
  std::atomic<bool> diskFull{false};
  std::atomic<bool> closed{false}; ///< the trace has everything, and its file is closed
};

class ForkedSource;

class EventSource : public Observer {
public:
  /// `settings`: the settings that the trace already names; null: the current ones.
  EventSource(Tier tier, RuleBook& book, RecordingProgress& progress, Observer* alsoCounts,
              std::shared_ptr<const std::string> settings = nullptr);

  bool wantsRewrites() const override { return tier_ == Tier::Full; }
  bool wantsCounts() const override { return tier_ != Tier::Off; }
  bool wantsMachineTexts() const override { return tier_ == Tier::Full; }
  const std::atomic<bool>* stopFlag() const override { return &progress_.stop; }
  void onScopeBegin(const ScopeBegin& begin) override;
  void onScopeEnd() override;
  void onPassBegin(const PassBegin& begin) override;
  void onPassEnd(const PassEnd& end) override;
  Control onRewrite(const RewriteEvent& event) override;
  void onGate(UOp node) override;
  void onUnchanged(const Rule& rule, UOp node) override;
  void onRuleError(const Rule& rule, UOp before, std::string_view message) override;
  void onCounts(const PassCounts& counts) override;
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
  void poolDone(std::shared_ptr<Pool> pool) override;

protected:
  /// Whether an event since the last call refers to a node of the pool. Forgets the pool.
  bool takeTouched(const Pool& pool);
  /// The event to fill in; publish() makes it visible to the writer.
  virtual Event& next() = 0;
  virtual void publish() = 0;

  /// A published event keeps a pool of this size until it is written.
  virtual void keptPool(size_t /*bytes*/) {}

  /// Adds the time that this thread has spent on events to the progress.
  void addUpCost();

  Tier tier_;
  RuleBook& book_;
  RecordingProgress& progress_;
  Observer* alsoCounts_;
  std::shared_ptr<const std::string> settingsAtBegin_;

private:
  class Cost;
  void take(ForkedSource& source); ///< its events go on here
  /// The node as a part of an event of tier full. Counts need no graph, so that pools die at once in tier stats and
  /// their memory serves the next kernel.
  const Node* graph(UOp u) { return tier_ == Tier::Full ? touch(u) : nullptr; }
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
  uint64_t nextOrdinal_ = 0;                    ///< of the next fork whose events go on
  std::vector<std::unique_ptr<Joined>> joined_; ///< forks that wait for one with a smaller ordinal

public:
  ~EventSource() override;
};

} // namespace uopscope
