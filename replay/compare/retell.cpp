// Both directions feed an Observer, so what a trace or a corpus holds is made by the recorder and the capture
// that make every other one.
#include "replay/compare/retell.h"

#include "engine/base/error.h"
#include "engine/rewrite/rule.h"
#include "replay/compare/story_view.h"
#include "replay/read/materialize.h"
#include "replay/record/recorder.h"

#include <algorithm>

namespace uopscope {

namespace {

/// Rules that are only their names: what their patterns were is not stored.
class NamedRules {
public:
  const Rule& operator[](const std::string& name) {
    auto& rule = rules_[name];
    if (!rule)
      rule = std::make_unique<Rule>(name, "", 0, "", std::vector<PatNode>(1), std::vector<std::string>(),
                                    [](Match&) { return UOp(); });
    return *rule;
  }

private:
  std::map<std::string, std::unique_ptr<Rule>> rules_;
};

/// For every event whether it is a rewrite on the way down: something below the node is rewritten later in
/// the pass.
std::vector<bool> waysDown(const Story& story) {
  std::vector<bool> down(story.events().size());
  struct Open {
    std::vector<std::pair<uint32_t, size_t>> steps; ///< node, event
  };
  std::vector<Open> open;
  std::vector<size_t> last(story.nodeCount() + 1), below(story.nodeCount() + 1);
  auto close = [&] {
    std::fill(last.begin(), last.end(), 0);
    for (const auto& [node, event] : open.back().steps) last[node] = std::max(last[node], event + 1);
    for (uint32_t n = 1; n < below.size(); ++n) { // sources come first
      below[n] = 0;
      for (const uint32_t s : story.src(n)) below[n] = std::max({below[n], below[s], last[s]});
    }
    for (const auto& [node, event] : open.back().steps) down[event] = below[node] > event + 1;
    open.pop_back();
  };
  for (size_t i = 0; i < story.events().size(); ++i) {
    const StoryEvent& e = story.events()[i];
    if (e.kind == StoryEvent::PassBegin) open.emplace_back();
    if (e.kind == StoryEvent::Step && !open.empty()) open.back().steps.emplace_back(e.before, i);
    if (e.kind == StoryEvent::PassEnd && !open.empty()) close();
  }
  while (!open.empty()) close();
  return down;
}

void tell(const Compilation& c, const Story& story, Observer& to, NamedRules& rules) {
  Pool pool;
  PoolScope scope(pool);
  const std::vector<UOp> nodes = story.buildAll();
  const std::vector<bool> down = waysDown(story);
  to.onScopeBegin({c.kind, c.name, {c.file, c.line}, nodes[story.root()]});
  int open = 0;
  for (size_t i = 0; i < story.events().size(); ++i) {
    const StoryEvent& e = story.events()[i];
    switch (e.kind) {
    case StoryEvent::PassBegin:
      to.onPassBegin({story.word(e.word), {}, nodes[e.before]});
      ++open;
      break;
    case StoryEvent::PassEnd:
      to.onPassEnd({nodes[e.after], e.after ? PassOutcome::Done : PassOutcome::Failed,
                    e.after ? std::string_view() : std::string_view(c.message)});
      --open;
      break;
    case StoryEvent::Step:
      to.onRewrite({&rules[story.word(e.word)], nodes[e.before], nodes[e.after], 0, pool.nextId(), down[i]});
      break;
    case StoryEvent::Error: to.onRuleError(rules[story.word(e.word)], nodes[e.before], c.message); break;
    }
  }
  for (; open > 0; --open) to.onPassEnd({UOp(), PassOutcome::Failed, c.message});
  for (const auto& [kind, text] : {std::pair<const char*, const std::string*>{"name", &c.name},
                                   {"source", &c.source},
                                   {"ir", &c.ir},
                                   {"asm", &c.assembly},
                                   {"opts", &c.opts},
                                   {"launch", &c.launch}})
    if (!text->empty()) to.onArtifact({kind, *text});
  to.onScopeEnd();
  to.poolRetired(pool);
}

/// One scope of a trace, with its nested passes where they happened.
class ScopeTeller {
public:
  ScopeTeller(Trace& trace, const ScopeInfo& scope, Observer& to, NamedRules& rules)
      : trace_(trace), scope_(scope), to_(to), rules_(rules), make_(trace.nodes().reader(), pool_) {}

  void run() {
    PoolScope in(pool_);
    to_.onScopeBegin({scope_.kind,
                      scope_.name,
                      {scope_.script.file, scope_.script.line},
                      scope_.root == kNoNode ? UOp() : make_(scope_.root)});
    passes_ = trace_.passes(scope_.id);
    for (const PassInfo& p : passes_)
      if (!isInside(p)) pass(p);
    for (const char* kind : {"source", "ir", "asm", "opts", "launch"})
      if (const auto text = trace_.artifact(scope_.id, kind)) to_.onArtifact({kind, *text});
    to_.onScopeEnd();
    to_.poolRetired(pool_);
  }

private:
  bool isInside(const PassInfo& p) const {
    return p.parent && std::any_of(passes_.begin(), passes_.end(),
                                   [&](const PassInfo& other) { return other.id == p.parent; });
  }
  void pass(const PassInfo& p) {
    to_.onPassBegin({p.name, {p.at.file, p.at.line}, p.root == kNoNode ? UOp() : make_(p.root)});
    std::vector<const PassInfo*> nested;
    for (const PassInfo& other : passes_)
      if (other.parent == p.id) nested.push_back(&other);
    size_t next = 0;
    for (const StepInfo& s : trace_.steps(p.id)) {
      for (; next < nested.size() && nested[next]->parentSteps < s.k; ++next) pass(*nested[next]);
      const Rule& rule = rules_[trace_.rule(s.rule).name];
      if (s.kind == StepKind::RewriteError)
        to_.onRuleError(rule, make_(s.before), trace_.stepMessage(s.id));
      else if (s.after != s.before)
        to_.onRewrite(
            {&rule, make_(s.before), make_(s.after), s.ns, pool_.nextId(), s.kind == StepKind::WayDown});
    }
    for (; next < nested.size(); ++next) pass(*nested[next]);
    to_.onPassEnd({p.endRoot == kNoNode ? UOp() : make_(p.endRoot), p.outcome.value_or(PassOutcome::Stopped),
                   p.message});
  }

  Trace& trace_;
  const ScopeInfo& scope_;
  Observer& to_;
  NamedRules& rules_;
  Pool pool_;
  Materializer make_;
  std::vector<PassInfo> passes_;
};

} // namespace

void traceOf(const Compilation& compilation, const std::string& path) {
  NamedRules rules;
  const Story story(compilation.story);
  RecorderOptions options;
  options.path = path;
  Recorder recorder(options);
  tell(compilation, story, recorder, rules);
  recorder.finish();
  if (const std::string failure = recorder.failure(); !failure.empty()) throw Error(ErrorKind::File, failure);
}

std::map<uint64_t, ScopeId> corpusOf(const std::string& path, const std::string& out,
                                     const CorpusOfOptions& options) {
  Trace trace(path);
  Corpus corpus = Corpus::create(out);
  NamedRules rules;
  std::map<uint64_t, ScopeId> scopes;
  const std::vector<ScopeInfo>& all = trace.scopes();
  for (size_t i = 0; i < all.size(); ++i) {
    const ScopeInfo& scope = all[i];
    if (options.progress) options.progress(i, all.size());
    if (options.stop && *options.stop) break;
    if (scope.kind != ScopeKind::Kernel && scope.kind != ScopeKind::Schedule) continue;
    CaptureObserver capture([&](Compilation c) {
      c.name = scope.name;
      c.compileNs = 0;
      if (const auto& passes = trace.passes(scope.id); !passes.empty())
        c.compileNs = std::max<int64_t>(passes.back().endNs.value_or(scope.beginNs) - scope.beginNs, 0);
      c.settings = "{}"; // a trace does not say; the context variables of this process are not it
      scopes.emplace(c.inputHash(), scope.id);
      corpus.add(c);
    });
    ScopeTeller(trace, scope, capture, rules).run();
  }
  RuleCounts counts;
  for (const MatchTotals& t : trace.matchTotals(MatchGroup::RuleAndPass)) {
    if (!t.rule) continue;
    const RuleInfo& rule = trace.rule(t.rule);
    RuleCount& total = counts[{t.passName, rule.name, rule.at.file, rule.at.line}];
    for (int k = 0; k < kOutcomeCount; ++k) {
      total.count[k] += t.count[k];
      total.ns += t.ns[k];
    }
  }
  corpus.addCounts(counts);
  corpus.finish();
  return scopes;
}

} // namespace uopscope
