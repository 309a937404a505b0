// The answers are made as nodes of the pool in which the rule is asked, once a pool: nodes of one pool with equal content
// are one node, so an answer is found by its address.
#include "replay/compare/replayed_rules.h"

#include "engine/base/error.h"
#include "engine/rewrite/rule.h"
#include "replay/compare/story_view.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

namespace uopscope {

namespace {
constexpr std::string_view kAfter = "after ", kPre = "pre_matcher of ", kExtra = "extra_matcher of ";

/// The answers of one rule in one place. A rule that gave a node several answers gives them again in order.
struct Answers {
  struct Rewrite {
    uint32_t before = 0, after = 0; ///< after 0: the rule failed
  };
  std::shared_ptr<const Story> story;
  std::vector<Rewrite> rewrites;
  std::string message; ///< of a failure
  int64_t pool = -1;   ///< serial number of the pool that `made` belongs to
  std::unordered_map<const Node*, std::vector<UOp>> made; ///< the next answer last

  UOp of(UOp node) {
    if (pool != int64_t{Pool::current().serial()}) {
      made.clear();
      pool = Pool::current().serial();
      for (auto it = rewrites.rbegin(); it != rewrites.rend(); ++it)
        made[story->build(it->before).node()].push_back(it->after ? story->build(it->after) : UOp());
    }
    auto found = made.find(node.node());
    if (found == made.end()) return {};
    const UOp answer = found->second.back();
    if (found->second.size() > 1) found->second.pop_back();
    if (!answer) throw Error(ErrorKind::Rewrite, message);
    return answer;
  }
};

/// The rewrites of the rule in passes of this name, and the operations at their roots.
std::shared_ptr<Answers> answersOf(const std::shared_ptr<const Story>& story, std::string_view rule,
                                   std::string_view pass, OpSet& roots) {
  auto out = std::make_shared<Answers>();
  out->story = story;
  std::vector<bool> inside; // for each open pass
  for (const StoryEvent& e : story->events()) {
    if (e.kind == StoryEvent::PassBegin) inside.push_back(story->word(e.word) == pass);
    if (e.kind == StoryEvent::PassEnd && !inside.empty()) inside.pop_back();
    const bool rewrites = e.kind == StoryEvent::Step || e.kind == StoryEvent::Error;
    if (!rewrites || inside.empty() || !inside.back() || story->word(e.word) != rule) continue;
    out->rewrites.push_back({e.before, e.kind == StoryEvent::Step ? e.after : 0});
    if (const auto op = opFromName(story->op(e.before))) roots.add(*op);
  }
  return out;
}

std::shared_ptr<const PatternMatcher> matcherOf(const nlohmann::json& list, const Compilation& input,
                                                const std::shared_ptr<const Story>& story,
                                                std::string_view pass) {
  std::vector<std::shared_ptr<const Rule>> rules;
  std::set<std::string> met;
  for (size_t k = 1; k < list.size(); ++k) {
    const std::string named = list[k].is_string() ? list[k].get<std::string>() : "";
    const std::string name = named.substr(0, named.rfind(':'));
    PatNode root;
    auto answers = answersOf(story, name, pass, root.ops);
    if (answers->rewrites.empty() || !met.insert(name).second) continue;
    answers->message = input.message;
    rules.push_back(std::make_shared<const Rule>(name, "", 0, "", std::vector{root},
                                                 std::vector<std::string>(),
                                                 [answers](Match& m) { return answers->of(m.root()); }));
  }
  return std::make_shared<const PatternMatcher>(std::move(rules));
}
} // namespace

ReplayedRules::ReplayedRules(const Compilation& input) {
  if (input.settings.find(kRulesOfScripts) == std::string::npos) return;
  const auto settings = nlohmann::json::parse(input.settings, nullptr, false);
  if (!settings.is_object() || !settings.contains(kRulesOfScripts) || !settings[kRulesOfScripts].is_array())
    return;
  const auto story = std::make_shared<const Story>(input.story);
  for (const nlohmann::json& list : settings[kRulesOfScripts]) {
    if (!list.is_array() || list.empty() || !list[0].is_string()) continue;
    const auto where = list[0].get<std::string>();
    if (where.starts_with(kAfter)) {
      const std::string pass = where.substr(kAfter.size());
      const std::string_view known[] = {pass};
      afterPasses_.push_back(std::make_unique<UserRules>(pass, known, *matcherOf(list, input, story, where)));
    } else if (where.starts_with(kPre)) {
      renderers_[where.substr(kPre.size())].pre = matcherOf(list, input, story, "pre_matcher");
    } else if (where.starts_with(kExtra)) {
      renderers_[where.substr(kExtra.size())].extra = matcherOf(list, input, story, "final rewrite");
    }
  }
  for (const auto& [device, rules] : renderers_) setRendererRules(device, rules);
}

ReplayedRules::~ReplayedRules() {
  for (const auto& [device, rules] : renderers_) setRendererRules(device, {});
}

} // namespace uopscope
