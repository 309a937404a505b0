// Observes compilations and keeps, for each kernel and schedule, what a corpus stores of it.
//
//   CaptureObserver capture([](Compilation c) { ... });
//   ObserverScope scope(&capture);   // compile anything
//
// Costs a few tens of nanoseconds a rewrite; no file is touched here.
#pragma once
#include "engine/rewrite/observer.h"
#include "replay/record/settings.h"
#include "replay/record/story.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace uopscope {

/// Counts of one rule in one pass, in the order of Outcome.
struct RuleCount {
  uint64_t count[kOutcomeCount] = {};
  int64_t ns = 0;
};
struct RulePlace {
  std::string pass, rule, file;
  int line = 0;
  auto operator<=>(const RulePlace&) const = default;
};
using RuleCounts = std::map<RulePlace, RuleCount>;

/// Input and outcome of one compilation.
struct Compilation {
  ScopeKind kind = ScopeKind::Kernel;
  std::string graph;    ///< graphToText of what was asked for
  std::string device;   ///< "CPU"; empty for a schedule
  std::string settings; ///< JSON: context variables that decide what is made, capabilities of the device
  std::string file;     ///< line of the script that asked for it
  int line = 0;

  std::string name, status = "ok", message; ///< status: ok, failed, crashed, timeout
  std::string source, ir, assembly, launch, opts;
  PackedStory story;
  int64_t compileNs = 0; ///< from the graph to source, as observed
  int64_t flops = -1, bytes = -1;

  uint64_t inputHash() const;  ///< of kind, graph, device and settings
  uint64_t outputHash() const; ///< of status, source, IR, launch sizes and the story's last graph
};

class CaptureObserver : public Observer {
public:
  using Sink = std::function<void(Compilation)>;
  explicit CaptureObserver(Sink sink) : sink_(std::move(sink)) {}

  bool wantsCounts() const override { return true; }
  void onScopeBegin(const ScopeBegin& begin) override;
  void onScopeEnd() override;
  void onPassBegin(const PassBegin& begin) override;
  void onPassEnd(const PassEnd& end) override;
  Control onRewrite(const RewriteEvent& event) override;
  void onRuleError(const Rule& rule, UOp before, std::string_view message) override;
  void onCounts(std::span<const MatchCount> counts) override;
  void onArtifact(const Artifact& artifact) override;
  void poolRetired(Pool& pool) override;
  std::unique_ptr<Observer> fork(uint64_t ordinal) override;
  void join(std::unique_ptr<Observer> child) override;

  /// Of all compilations so far.
  const RuleCounts& counts() const { return counts_; }

private:
  struct Open {
    Compilation made;
    StoryGraph graph;
    std::string events;
    int64_t beganNs = 0, sourceNs = 0;
    size_t depth = 0; ///< of its scope
    uint32_t root = 0, last = 0;
    bool sawPass = false;
  };
  void event(StoryEvent::Kind kind, std::string_view word, uint32_t node);

  Sink sink_;
  std::optional<Open> open_; ///< compilations do not nest
  size_t scopes_ = 0;
  struct OpenPass {
    std::string name;
    size_t begin = 0, body = 0; ///< of its events
  };
  std::vector<OpenPass> passes_; ///< outermost first
  Settings settings_;
  RuleCounts counts_;
  std::shared_ptr<std::vector<Compilation>> held_; ///< of a child, until it is joined
};

/// Sets the field of a compilation that an artifact is for; false where there is none.
bool setText(Compilation& compilation, std::string_view kind, std::string_view text);

} // namespace uopscope
