// The work list of graph_rewrite. It has one frame for each node in flight, and results are remembered by
// node.
//
// Parts of the graph that cannot change are not visited. A part cannot change if it contains no operation
// that is the root of a rule, or if the same rules left it unchanged before (Node::settled). The second
// condition is used only for rules of tables without context, applied on the way up, while no observer
// forbids a rewrite. Attempts that are not made are not counted.
//
// If a node is met again while it is still in flight, a rule has wrapped it into an expression of itself.
// Such a rewrite never ends, and is reported with the rule that made it.
#include "engine/rewrite/driver.h"

#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/base/id_map.h"
#include "engine/base/source_path.h"
#include "engine/rewrite/counters.h"

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <unordered_set>

namespace uopscope {

namespace {

class Driver {
public:
  Driver(UOp root, const PatternMatcher* up, const PatternMatcher* down, const RewriteOptions& options,
         Observer* observer)
      : up_(up), down_(down), options_(options), observer_(observer) {
    if (observer_ && observer_->wantsCounts()) {
      if (up_) upCounters_.emplace();
      if (down_) downCounters_.emplace();
    }
    if (options_.map) { // lists every node, so every node is visited
      active_ = OpSet::all();
      return;
    }
    if (up_) active_ = up_->roots();
    if (down_) active_ = active_ | down_->roots();
    if (up_ && !down_ && !options_.ctx.object() && up_->identity())
      settledBit_ = root.node()->pool->settledBit(up_->identity());
  }

  UOp run(UOp root) {
    if (untouched(root)) return root;
    stack_.push_back({root, root, Stage::Enter, false, 0});
    while (!stack_.empty()) {
      switch (stack_.back().stage) {
      case Stage::Enter: enter(); break;
      case Stage::Rebuild: rebuild(); break;
      case Stage::Link: link(); break;
      }
    }
    return UOp(done_.find(root.slot())->node);
  }

  void report() {
    std::array<PassCounts::Part, 2> parts;
    size_t count = 0;
    auto add = [&](const std::optional<MatchCounters>& counters, const PatternMatcher* matcher) {
      if (counters && !counters->met().empty()) parts[count++] = {matcher, &*counters};
    };
    add(downCounters_, down_);
    add(upCounters_, up_);
    if (count > 0) observer_->onCounts(PassCounts(std::span(parts).first(count)));
    std::vector<DeclineCount> reasons;
    if (downCounters_) downCounters_->collectReasons(down_->rules(), reasons);
    if (upCounters_) upCounters_->collectReasons(up_->rules(), reasons);
    if (!reasons.empty()) observer_->onDeclines(reasons);
  }

  void fillMap(UOp root, UOpMap<UOp>& map) {
    for (UOp u : root.toposort())
      if (State* s = done_.find(u.slot()); s && s->node) map.emplace(u, UOp(s->node));
  }

private:
  enum class Stage : uint8_t { Enter, Rebuild, Link };
  struct Frame {
    UOp original; ///< the node whose result this frame computes
    UOp current;  ///< its latest form
    Stage stage;
    bool isChanged; ///< a source that was looked at has become another node
    uint32_t nextSrc;
  };
  /// Result of a node, or null while it is in flight.
  struct State {
    const Node* node = nullptr;
  };

  /// Whether no rule can change anything from here down: no rule's root has an operation that occurs here, or
  /// all rules have been tried here before.
  bool untouched(UOp u) const { return (u.node()->settled & settledBit_) || !u.below().intersects(active_); }
  /// The state of a node that was met; null if it is new. A node in flight cannot be asked for: it would need its own result.
  const State* stateOf(UOp u) {
    const State* state = done_.find(u.slot());
    if (state && !state->node) endless("a rule made an expression of the node it rewrites");
    return state;
  }
  /// Begins a frame for a new node, which has to finish before those below it on the stack.
  void open(UOp u) {
    if (stack_.size() >= limit_) endless("more than {} nodes in flight (REWRITE_STACK_LIMIT)", limit_);
    stack_.push_back({u, u, down_ ? Stage::Enter : Stage::Rebuild, false, 0});
    if (!down_) done_.set(u.slot(), {nullptr});
  }
  UOp resultOf(UOp u) {
    State* state = done_.find(u.slot());
    return state ? UOp(state->node) : u;
  }
  void finish(UOp original, UOp result) {
    done_.set(original.slot(), {result.node()});
    stack_.pop_back();
  }

  [[noreturn]] void endless(std::string_view why, size_t number = 0) {
    UOp u = stack_.back().current;
    const Rule* last = attempts_.fired;
    throw Error(
        ErrorKind::Rewrite,
        fmt::format("infinite loop in graph_rewrite{}: {}, at {} {}{}",
                    options_.name.empty() ? "" : fmt::format(" \"{}\"", options_.name),
                    fmt::format(fmt::runtime(why), number), opName(u.op()), u.id(),
                    last ? fmt::format(", last rule {} ({}:{})", last->name(), last->file(), last->line())
                         : ""));
  }

  UOp apply(const PatternMatcher& matcher, UOp u, bool bottomUp) {
    if (stop_ && stop_->load(std::memory_order_relaxed)) throw Error(ErrorKind::Runtime, "interrupted");
    return matcher.rewrite(u, options_.ctx, observer_, bottomUp ? ptr(downCounters_) : ptr(upCounters_),
                           bottomUp, &attempts_);
  }
  static MatchCounters* ptr(std::optional<MatchCounters>& c) { return c ? &*c : nullptr; }

  void enter() {
    Frame& frame = stack_.back();
    if (down_) {
      UOp u = frame.current;
      std::optional<std::unordered_set<UOp>> seen;
      while (UOp next = apply(*down_, u, true)) {
        if (isGate(next)) {
          if (observer_ && observer_->wantsRewrites()) observer_->onGate(u);
          finish(frame.original, u);
          return;
        }
        if (!seen) seen.emplace({u});
        if (!seen->insert(next).second) endless("a node came back while rules were applied to it");
        if (seen->size() > limit_) endless("more than {} rewrites of one node (REWRITE_STACK_LIMIT)", limit_);
        u = next;
      }
      frame.current = u;
    }
    done_.set(frame.original.slot(), {nullptr});
    frame.stage = Stage::Rebuild;
  }

  void rebuild() {
    {
      // Sources come first, left to right. The frame is resumed here, at the same source, after each one that was not known.
      Frame& frame = stack_.back();
      const std::span<const UOp> sources = frame.current.src();
      for (; frame.nextSrc < sources.size(); ++frame.nextSrc) {
        const UOp s = sources[frame.nextSrc];
        if (untouched(s)) continue;
        const State* state = stateOf(s);
        if (!state) return open(s);
        frame.isChanged |= state->node != s.node();
      }
    }
    Frame& frame = stack_.back();
    UOp result;
    if (frame.isChanged) {
      src_.clear();
      for (UOp s : frame.current.src()) src_.push_back(resultOf(s));
      result = frame.current.withSrc(src_);
    } else {
      if (up_) result = apply(*up_, frame.current, false);
      if (!result || isGate(result)) {
        if (!result && !attempts_.skipped) frame.current.node()->settled |= settledBit_;
        finish(frame.original, frame.current);
        return;
      }
    }
    frame.current = result;
    frame.stage = Stage::Link;
    if (!stateOf(result) && !untouched(result)) open(result);
  }

  void link() {
    Frame& frame = stack_.back();
    finish(frame.original, resultOf(frame.current));
  }

  const PatternMatcher* up_;
  const PatternMatcher* down_;
  const RewriteOptions& options_;
  Observer* observer_;
  const std::atomic<bool>* stop_ = observer_ ? observer_->stopFlag() : nullptr;
  OpSet active_;
  uint64_t settledBit_ = 0;
  std::optional<MatchCounters> upCounters_, downCounters_;
  const size_t limit_ = static_cast<size_t>(std::max<int64_t>(vars::rewriteStackLimit, 1));
  IdMap<State> done_;
  std::vector<Frame> stack_;
  std::vector<UOp> src_;
  PatternMatcher::Attempts attempts_;
};

/// The number of passes of this thread that were announced to an observer and have not ended.
thread_local int observedPasses = 0;
struct ObservedPassCount {
  ObservedPassCount() { ++observedPasses; }
  ~ObservedPassCount() { --observedPasses; }
  ObservedPassCount(const ObservedPassCount&) = delete;
  ObservedPassCount& operator=(const ObservedPassCount&) = delete;
};

UOp runQuietly(Driver& driver, UOp root, const RewriteOptions& options) {
  UOp result = driver.run(root);
  if (options.map) driver.fillMap(root, *options.map);
  return result;
}

UOp rewriteObserved(UOp root, const PatternMatcher* up, const PatternMatcher* down,
                    const RewriteOptions& options, const char* file, int line) {
  Observer* observer = Observer::current();
  Driver driver(root, up, down, options, observer);
  if (!observer) return runQuietly(driver, root, options);
  observer->onPassBegin({options.name, {projectPath(file), line}, root, up, down});
  ObservedPassCount counted;
  try {
    UOp result = driver.run(root);
    if (options.map) driver.fillMap(root, *options.map);
    driver.report();
    observer->onPassEnd({result, PassOutcome::Done, {}});
    return result;
  } catch (const std::exception& e) {
    driver.report();
    observer->onPassEnd({{}, PassOutcome::Failed, e.what()});
    throw;
  }
}

} // namespace

UOp graphRewrite(UOp root, const PatternMatcher& matcher, const RewriteOptions& options, const char* file,
                 int line) {
  return rewriteObserved(root, &matcher, options.bottomUp, options, file, line);
}

UOp graphRewriteBottomUp(UOp root, const PatternMatcher& matcher, const RewriteOptions& options,
                         const char* file, int line) {
  return rewriteObserved(root, nullptr, &matcher, options, file, line);
}

AnalysisPass::AnalysisPass(std::string_view name, UOp root, const char* file, int line)
    : observer_(Observer::current()), root_(root), exceptions_(std::uncaught_exceptions()) {
  if (!observer_) return;
  observer_->onPassBegin({name, {projectPath(file), line}, root});
  ++observedPasses;
}

AnalysisPass::~AnalysisPass() {
  if (!observer_) return;
  --observedPasses;
  bool failed = std::uncaught_exceptions() > exceptions_;
  observer_->onPassEnd({failed ? UOp() : root_, failed ? PassOutcome::Failed : PassOutcome::Done, {}});
}

bool insideObservedPass() {
  return observedPasses > 0;
}

} // namespace uopscope
