// Observes compilations and keeps, for each kernel and schedule, what a corpus stores of it.
//
//   CaptureObserver capture([](Compilation c) { ... });
//   ObserverScope scope(&capture);   // compile anything
//
// Following every rewrite makes a compilation two to three times as long; see Detail for less. No file is
// touched here.
#pragma once
#include "engine/rewrite/observer.h"
#include "replay/record/rule_tally.h"
#include "replay/record/settings.h"
#include "replay/record/story.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace uopscope {

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
  /// Each with what stands before it: code and sizes, match statistics, every rewrite.
  enum class Detail : uint8_t { Code, Counts, Stories };
  /// `tally` sums up match statistics; null: one of its own.
  explicit CaptureObserver(Sink sink, Detail detail = Detail::Stories, RuleTally* tally = nullptr)
      : sink_(std::move(sink)), detail_(detail), stories_(detail == Detail::Stories),
        tally_(tally ? std::shared_ptr<RuleTally>(std::shared_ptr<void>(), tally)
                     : std::make_shared<RuleTally>()) {}

  bool wantsRewrites() const override { return stories_; }
  bool wantsCounts() const override { return detail_ != Detail::Code; }
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
  const RuleTally& tally() const { return *tally_; }
  /// The sum of what RuleTally::add returned since the last call: which rules were applied how often.
  uint64_t takeApplied() { return std::exchange(applied_, 0); }

private:
  struct Open {
    Compilation made;
    std::string events;
    int64_t beganNs = 0, sourceNs = 0;
    size_t depth = 0; ///< of its scope
    uint32_t root = 0, last = 0;
    bool sawPass = false;
  };
  void event(StoryEvent::Kind kind, std::string_view word, uint32_t node);

  Sink sink_;
  std::optional<Open> open_; ///< compilations do not nest
  StoryGraph graph_;         ///< of the open one
  size_t scopes_ = 0;
  struct OpenPass {
    std::string name;
    size_t begin = 0, body = 0; ///< of its events
  };
  std::vector<OpenPass> passes_; ///< outermost first
  Settings settings_;
  Detail detail_;
  bool stories_;
  std::shared_ptr<RuleTally> tally_;
  uint64_t applied_ = 0;
  std::shared_ptr<std::vector<Compilation>> held_; ///< of a child, until it is joined
};

/// takeApplied() of the compilation that a story tells.
uint64_t appliedIn(const PackedStory& story);

/// Sets the field of a compilation that an artifact is for; false where there is none.
bool setText(Compilation& compilation, std::string_view kind, std::string_view text);

} // namespace uopscope
