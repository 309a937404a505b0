// The one gate: everything that the compiler does passes an Observer. Recording, breakpoints, switching rules
// off, fuel and bisection are observers. Without an observer nothing is called and nothing is timed.
//
// Nodes given to an observer stay valid until their pool dies. A pool that is about to die or to be collected
// calls poolRetired() on the observer of that thread. An observer that reads nodes on a different thread
// finishes with them there.
//
//   struct Counter : Observer {
//     Control onRewrite(const RewriteEvent&) override { ++n; return Control::Apply; }
//     int n = 0;
//   };
//   Counter counter;
//   ObserverScope scope(&counter);
#pragma once
#include "engine/base/clock.h"
#include "engine/uop/uop.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace uopscope {

class Rule;
class PatternMatcher;
class PassCounts;
class EngineSession;

/// The answer to a rewrite that is about to be made. Step, Next and Finish also apply it; they tell the
/// observer of a debugger, which sees every answer again, how far to run.
enum class Control : uint8_t {
  Apply, ///< make the rewrite
  Skip,  ///< do not make it: the next rule is tried
  Step,  ///< make it, stop at the next rewrite
  Next,  ///< make it, stop at the next rewrite of this pass, not of passes nested in it
  Finish ///< make it, stop when this pass has ended
};

struct SourceLocation {
  std::string_view file; ///< as compiled, or as Python names it
  int line = 0;
};

/// A graph_rewrite that begins.
struct PassBegin {
  std::string_view name; ///< spelled as in the reference ("initial symbolic")
  SourceLocation at;     ///< the caller of graph_rewrite
  UOp root;
  const PatternMatcher* matcher = nullptr;  ///< rules for the way up, may be null
  const PatternMatcher* bottomUp = nullptr; ///< rules for the way down, may be null
};
enum class PassOutcome : uint8_t { Done, Failed, Stopped };
struct PassEnd {
  UOp root; ///< null if the pass failed
  PassOutcome outcome = PassOutcome::Done;
  std::string_view message; ///< of the failure
};

/// A rule produced a result: `before` becomes `after`.
struct RewriteEvent {
  const Rule* rule = nullptr;
  UOp before, after;       ///< never equal: a rule that returns the node itself counts as Unchanged
  int64_t ns = 0;          ///< time of the match and the function
  uint32_t firstNewId = 0; ///< nodes with ids in [firstNewId, pool.nextId()) were made by the function
  bool bottomUp = false;   ///< applied before the sources of `before` were rewritten
};

/// The outcome of an attempt to match a rule on a node.
enum class Outcome : uint8_t { RejectedEarly, StructureDiffers, Declined, Applied, Unchanged };
constexpr int kOutcomeCount = 5;
struct MatchCount {
  const Rule* rule;
  Op op; ///< operation of the node
  uint64_t count[kOutcomeCount];
  int64_t ns[kOutcomeCount]; ///< time, zero where not measured
};

/// How many times a rule declined for one reason, on nodes of one operation.
struct DeclineCount {
  const Rule* rule;
  Op op;
  const char* why; ///< a literal, which lives forever
  uint64_t count;
};

/// A phase of work that contains passes: a schedule, a kernel.
enum class ScopeKind : uint8_t { Script, Schedule, Kernel, Other };
struct ScopeBegin {
  ScopeKind kind = ScopeKind::Other;
  std::string_view name; ///< "schedule 3", "r_16_16"
  SourceLocation script; ///< line of the model script, if known
  UOp root;              ///< the graph that is scheduled or compiled, may be null
};

/// A line of a text (from 1), and an instruction of the linear program (from 0) that it comes from.
struct TextLine {
  uint32_t line = 0, instruction = 0;
};
/// Text or bytes that belong to a scope: rendered source, IR, assembly.
struct Artifact {
  /// "source", "ir", "asm", "uops", "opts", "launch" (JSON); of a schedule "held": a JSON list of the places, in the
  /// topological order of its graph, of the values that tensors hold
  std::string_view kind;
  std::string_view text;
  std::span<const TextLine> lines = {}; ///< the instructions of its lines, as far as known
};
struct Launch {
  std::string_view kernel, device;
  int64_t startNs = 0, durationNs = 0; ///< duration 0: not measured
  int64_t flops = 0, bytes = 0;
  int64_t accessed = 0;                   ///< bytes of all loads and stores, including those served by caches
  const Pool* program = nullptr;          ///< the pool of its linear program, if it is a kernel
  std::span<const uint64_t> buffers = {}; ///< BufferEvent::id, in order of the kernel's parameters
};
/// A buffer received memory or released it. A view has a base and no memory of its own.
struct BufferEvent {
  uint64_t id = 0; ///< unique in the process, ascending
  std::string_view device, dtype;
  int64_t bytes = 0;
  uint64_t base = 0; ///< id of the buffer that it is a view of
  int64_t offset = 0;
  bool freed = false;
};
/// A named stretch of time, reported when it is over: "render", "compile", "disassemble" ...
struct Phase {
  std::string_view name;
  int64_t startNs = 0, durationNs = 0;
};
/// A list of Opts for a kernel that a search tried.
struct Candidate {
  std::string_view opts;    ///< JSON list
  int64_t durationNs = -1;  ///< negative: it did not run
  std::string_view message; ///< the reason if it did not run
};
/// The reason for the next rewrite: words and, for a choice, its price and the alternatives.
struct Decision {
  struct Alternative {
    std::string what;
    double price = 0; ///< in the unit of the decision
  };
  std::string reason;                   ///< "cut at 1024: four operations hang on it"
  std::optional<double> price = {};     ///< of the choice
  std::string unit = {};                ///< "cycles a result"
  std::vector<Alternative> others = {}; ///< the best alternatives, cheapest first
};
/// A tensor operation of the script made a node.
struct Origin {
  UOp node;
  std::string_view operation; ///< "conv2d"
  SourceLocation script;
};

class Observer {
public:
  /// The ordinal of work that a thread of the script does by itself (thread_observer.h).
  static constexpr uint64_t kOfOtherThread = UINT64_MAX;

  virtual ~Observer() = default;

  /// Whether onRewrite is to be called, and whether attempts are to be counted and timed.
  virtual bool wantsRewrites() const { return true; }
  virtual bool wantsCounts() const { return false; }
  /// Whether onArtifact is to get what only experts read of a kernel, its IR and its assembly. Its source is always told.
  virtual bool wantsMachineTexts() const { return true; }

  /// A flag set from outside (Ctrl-C): the next attempt to rewrite a node then throws Error(Runtime)
  /// "interrupted".
  virtual const std::atomic<bool>* stopFlag() const { return nullptr; }

  virtual void onScopeBegin(const ScopeBegin&) {}
  virtual void onScopeEnd() {}
  virtual void onPassBegin(const PassBegin&) {}
  virtual void onPassEnd(const PassEnd&) {}
  /// Called before a rewrite takes effect; an exception thrown here ends the pass.
  virtual Control onRewrite(const RewriteEvent&) { return Control::Apply; }
  /// A rule gated this node on the way down: its sources are not visited. Only called if wantsRewrites().
  virtual void onGate(UOp) {}
  /// A rule returned the node itself: a match without an effect. Only called if wantsRewrites().
  virtual void onUnchanged(const Rule&, UOp) {}
  /// A rule threw while it was tried on `before`. The exception goes on after this call.
  virtual void onRuleError(const Rule&, UOp /*before*/, std::string_view /*message*/) {}
  /// The attempts of the ending pass, before onPassEnd. Only called if wantsCounts().
  virtual void onCounts(const PassCounts&) {}
  /// The reasons for which rules declined in the ending pass, after onCounts. Only called if wantsCounts().
  virtual void onDeclines(std::span<const DeclineCount>) {}
  virtual void onArtifact(const Artifact&) {}
  /// The linear program of the kernel being lowered. Lines of artifacts refer to it.
  virtual void onProgram(std::span<const UOp>) {}
  virtual void onPhase(const Phase&) {}
  virtual void onCandidate(const Candidate&) {}
  /// Explains the next rewrite of this thread. Only called if wantsRewrites().
  virtual void onDecision(const Decision&) {}
  virtual void onBuffer(const BufferEvent&) {}
  /// The script wrote text to "stdout" or "stderr".
  virtual void onOutput(std::string_view /*stream*/, std::string_view /*text*/) {}
  virtual void onLaunch(const Launch&) {}
  virtual void onOrigin(const Origin&) {}
  /// Nodes of the pool may die when this returns.
  virtual void poolRetired(Pool&) {}
  /// The engine is done with the pool and uses none of its nodes again. An observer that keeps the pointer reads
  /// them later; the pool may die on any thread.
  virtual void poolDone(std::shared_ptr<Pool> pool) { poolRetired(*pool); }

  /// An observer for the work item `ordinal` that runs on a different thread. join() merges its events in
  /// order of ordinals, so a trace does not depend on the number of threads; those of kOfOtherThread at once.
  /// Null: the work stays on this thread.
  virtual std::unique_ptr<Observer> fork(uint64_t /*ordinal*/) { return nullptr; }
  virtual void join(std::unique_ptr<Observer>) {}

  /// The observer of this thread and its session, or null.
  static Observer* current();
};

/// Makes an observer (or null: none) that of the thread in its current session, for a block. Work of other
/// sessions that the block enters is not reported to it.
class ObserverScope {
public:
  explicit ObserverScope(Observer* observer);
  ~ObserverScope();
  ObserverScope(const ObserverScope&) = delete;
  ObserverScope& operator=(const ObserverScope&) = delete;

private:
  Observer* before_;
  const EngineSession* session_; ///< the session that `before_` observes
};

/// Begins a scope on the thread's observer, if there is one, and ends it.
class ObservedScope {
public:
  explicit ObservedScope(const ScopeBegin& begin) : observer_(Observer::current()) {
    if (observer_) observer_->onScopeBegin(begin);
  }
  ~ObservedScope() {
    if (observer_) observer_->onScopeEnd();
  }
  ObservedScope(const ObservedScope&) = delete;
  ObservedScope& operator=(const ObservedScope&) = delete;

private:
  Observer* observer_;
};

/// Tells the thread's observer, if it wants rewrites, why the next rewrite is made. The function `words`
/// returns the reason or the whole Decision; it is not called without such an observer.
template <typename F>
void because(F&& words) {
  Observer* observer = Observer::current();
  if (!observer || !observer->wantsRewrites()) return;
  if constexpr (std::is_same_v<std::invoke_result_t<F>, Decision>)
    observer->onDecision(words());
  else
    observer->onDecision(Decision{.reason = words()});
}

/// Tells the thread's observer, if there is one, how long a block took. `name` is a literal.
class ObservedPhase {
public:
  explicit ObservedPhase(const char* name)
      : observer_(Observer::current()), name_(name), start_(observer_ ? nowNs() : 0) {}
  ~ObservedPhase() {
    if (observer_) observer_->onPhase({name_, start_, nowNs() - start_});
  }
  ObservedPhase(const ObservedPhase&) = delete;
  ObservedPhase& operator=(const ObservedPhase&) = delete;

private:
  Observer* observer_;
  const char* name_;
  int64_t start_;
};

} // namespace uopscope
