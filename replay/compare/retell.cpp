// Feeds a recorder with the calls of the original compilation, so the recorder of every trace also makes this
// one.
#include "replay/compare/retell.h"

#include "engine/base/error.h"
#include "engine/rewrite/rule.h"
#include "replay/compare/story_view.h"
#include "replay/record/recorder.h"

#include <algorithm>

namespace uopscope {

namespace {

/// Rules that have only a name, since a story does not store their patterns.
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

/// For every event whether it is a rewrite on the way down: the pass later rewrites a node below the
/// rewritten one.
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

} // namespace uopscope
