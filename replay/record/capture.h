// Observes compilations and keeps the input, the outcome and the story of each kernel and schedule for a
// corpus.
//
//   CaptureObserver capture([](Compilation c) { ... });
//   ObserverScope scope(&capture);   // compile anything
//
// To follow every rewrite makes a compilation two to three times as long; Detail lists the cheaper levels. A
// capture touches no file.
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
  std::string graph;    ///< graphToText of the graph that was to be compiled
  std::string device;   ///< "CPU"; empty for a schedule
  std::string settings; ///< JSON: context variables that decide the result, capabilities of the device
  std::string file;     ///< line of the script that asked for the compilation
  int line = 0;

  std::string name, status = "ok", message; ///< status: ok, failed, crashed, timeout
  std::string source, ir, assembly, launch, opts;
  std::string
      registers; ///< registersJson of a kernel whose assembly was asked for; a corpus does not keep it
  PackedStory story;
  std::optional<uint64_t> applied; ///< appliedIn(story), where the story itself was not loaded
  int64_t compileNs = 0;           ///< time from the graph to the source, as observed
  int64_t flops = -1, bytes = -1;

  uint64_t inputHash() const;  ///< of kind, graph, device and settings
  uint64_t outputHash() const; ///< of status, source, IR, launch sizes and the story's last graph
};

class CaptureObserver : public Observer {
public:
  /// Takes a compilation; false: that input is known already, so its match statistics are not counted again.
  using Sink = std::function<bool(Compilation)>;
  /// Levels of detail; each contains the level before it: code and sizes, match statistics, every rewrite. Only
  /// the last keeps the input (graph, settings) too: who asks for less compiles a stored input and has it.
  enum class Detail : uint8_t { Code, Counts, Stories };
  /// `tally` sums up match statistics; null: the observer makes a tally of its own.
  explicit CaptureObserver(Sink sink, Detail detail = Detail::Stories, RuleTally* tally = nullptr)
      : sink_(std::move(sink)), detail_(detail), stories_(detail == Detail::Stories),
        tally_(tally ? std::shared_ptr<RuleTally>(std::shared_ptr<void>(), tally)
                     : std::make_shared<RuleTally>()),
        ofOpen_(stories_ ? tally_->fork() : nullptr) {}

  bool wantsRewrites() const override { return stories_; }
  bool wantsCounts() const override { return detail_ != Detail::Code; }
  void onScopeBegin(const ScopeBegin& begin) override;
  void onScopeEnd() override;
  void onPassBegin(const PassBegin& begin) override;
  void onPassEnd(const PassEnd& end) override;
  Control onRewrite(const RewriteEvent& event) override;
  void onRuleError(const Rule& rule, UOp before, std::string_view message) override;
  void onCounts(const PassCounts& counts) override;
  void onArtifact(const Artifact& artifact) override;
  void poolRetired(Pool& pool) override;
  std::unique_ptr<Observer> fork(uint64_t ordinal) override;
  void join(std::unique_ptr<Observer> child) override;

  /// Match statistics of the compilations that the sink took; with Detail::Counts of all passes so far.
  const RuleTally& tally() const { return *tally_; }
  /// The sum of the values that RuleTally::add returned since the last call. It tells which rules were
  /// applied how often.
  uint64_t takeApplied() { return std::exchange(applied_, 0); }

private:
  struct Open {
    Compilation made;
    std::string events;
    int64_t beganNs = 0, sourceNs = 0;
    size_t depth = 0; ///< depth of the scope it belongs to
    uint32_t root = 0, last = 0;
    bool sawPass = false;
  };
  void event(StoryEvent::Kind kind, std::string_view word, uint32_t node);

  Sink sink_;
  std::optional<Open> open_; ///< compilations do not nest
  StoryGraph graph_;         ///< nodes of the open compilation
  size_t scopes_ = 0;
  struct OpenPass {
    std::string name;
    size_t begin = 0, body = 0; ///< places of the pass in the list of events
  };
  std::vector<OpenPass> passes_; ///< outermost first
  Settings settings_;
  Detail detail_;
  bool stories_;
  std::shared_ptr<RuleTally> tally_;
  std::shared_ptr<RuleTally> ofOpen_; ///< of the open compilation, where stories are kept; else null
  uint64_t applied_ = 0;
  struct Held {
    Compilation made;
    std::shared_ptr<RuleTally> counts;
  };
  std::shared_ptr<std::vector<Held>> held_; ///< compilations of a fork until it joins
};

/// takeApplied() of the compilation that the story records.
uint64_t appliedIn(const PackedStory& story);

/// Sets the field of a compilation that takes artifacts of this kind; false where no field does.
bool setText(Compilation& compilation, std::string_view kind, std::string_view text);

} // namespace uopscope
