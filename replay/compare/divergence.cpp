// Walks over two event lists together. At the first difference, a look ahead tells whether one side makes a
// rewrite that the other side never makes, or only makes later.
#include "replay/compare/divergence.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace uopscope {

namespace {

using Kind = Divergence::Kind;

// What lies deeper is a number, which says nothing to a reader.
constexpr int kDeep = 9;

/// A rewrite as content.
struct Made {
  uint64_t before, after;
  bool operator==(const Made&) const = default;
};
struct MadeHash {
  size_t operator()(const Made& m) const { return hashMix(m.before, m.after); }
};

/// The rewrites from event `from` to the end of its pass (nested passes too).
std::unordered_set<Made, MadeHash> restOfPass(const Story& s, size_t from) {
  std::unordered_set<Made, MadeHash> rest;
  int depth = 0;
  for (size_t i = from; i < s.events().size(); ++i) {
    const StoryEvent& e = s.events()[i];
    if (e.kind == StoryEvent::PassBegin) ++depth;
    if (e.kind == StoryEvent::PassEnd && depth-- == 0) break;
    if (e.kind == StoryEvent::Step) rest.insert({s.hash(e.before), s.hash(e.after)});
  }
  return rest;
}

/// Whether the graph below `node` contains a graph with this content.
bool contains(const Story& s, uint32_t node, uint64_t content) {
  std::vector<uint32_t> stack{node};
  std::unordered_set<uint32_t> seen;
  while (!stack.empty()) {
    uint32_t n = stack.back();
    stack.pop_back();
    if (!seen.insert(n).second) continue;
    if (s.hash(n) == content) return true;
    for (uint32_t source : s.src(n)) stack.push_back(source);
  }
  return false;
}

std::vector<std::string> passNames(const Story& s, size_t from) {
  std::vector<std::string> names;
  for (size_t i = from; i < s.events().size(); ++i)
    if (s.events()[i].kind == StoryEvent::PassBegin) names.push_back(s.word(s.events()[i].word));
  return names;
}

bool sameEffect(const Story& a, const StoryEvent& x, const Story& b, const StoryEvent& y) {
  if (x.kind != y.kind || a.hash(x.before) != b.hash(y.before) || a.hash(x.after) != b.hash(y.after))
    return false;
  return x.kind != StoryEvent::PassBegin || a.word(x.word) == b.word(y.word);
}

class Comparison {
public:
  Comparison(const Story& before, const Story& after) : a_(before), b_(after) {}

  Divergence run() {
    if (a_.hash(a_.root()) != b_.hash(b_.root())) d_.kind = Kind::InputDiffers;
    size_t n = std::min(a_.events().size(), b_.events().size()), i = 0;
    struct Open {
      std::string name;
      size_t number, steps;
    };
    std::vector<Open> open;
    size_t passes = 0;
    for (; i < n && !d_.found(); ++i) {
      const StoryEvent &x = a_.events()[i], &y = b_.events()[i];
      if (!sameEffect(a_, x, b_, y)) break;
      if (x.kind == StoryEvent::PassBegin) open.push_back({a_.word(x.word), passes++, 0});
      if (x.kind == StoryEvent::PassEnd && !open.empty()) open.pop_back();
      if (x.kind == StoryEvent::Step) {
        if (!open.empty()) ++open.back().steps;
        if (a_.word(x.word) != b_.word(y.word)) d_.renamedRules.emplace(a_.word(x.word), b_.word(y.word));
      }
    }
    if (d_.found()) return d_;
    d_.event = i;
    if (i == a_.events().size() && i == b_.events().size()) return d_;
    if (!open.empty())
      d_.pass = open.back().name, d_.passNumber = open.back().number, d_.step = open.back().steps;
    // A rule with a different name is the cause only if the two names never stood for the same results.
    if (i == a_.events().size() || i == b_.events().size())
      d_.kind = Kind::Failed;
    else
      judge(i, passes);
    return d_;
  }

private:
  void judge(size_t i, size_t passes) {
    const StoryEvent &x = a_.events()[i], &y = b_.events()[i];
    if (x.kind == StoryEvent::PassBegin && y.kind == StoryEvent::PassBegin) return atPasses(i, passes);
    bool xStep = x.kind == StoryEvent::Step, yStep = y.kind == StoryEvent::Step;
    if (x.kind == StoryEvent::Error || y.kind == StoryEvent::Error) {
      d_.kind = Kind::Failed;
      takeBefore(x), takeAfter(y);
      return;
    }
    if (xStep && yStep && a_.hash(x.before) == b_.hash(y.before)) {
      takeBefore(x), takeAfter(y);
      bool sameRule = a_.word(x.word) == b_.word(y.word);
      auto renamed = d_.renamedRules.find(a_.word(x.word));
      if (renamed != d_.renamedRules.end() && renamed->second == b_.word(y.word)) sameRule = true;
      d_.kind = sameRule ? Kind::ResultDiffers : Kind::OtherRule;
      return;
    }
    // One side makes a rewrite that the other side makes later or never.
    bool xLater = xStep && restOfPass(b_, i).contains({a_.hash(x.before), a_.hash(x.after)});
    bool yLater = yStep && restOfPass(a_, i).contains({b_.hash(y.before), b_.hash(y.after)});
    if (xStep && yStep && xLater && yLater) {
      takeBefore(x), takeAfter(y);
      d_.kind = Kind::Reordered;
    } else if (xStep && !xLater && !(yStep && !yLater && contains(a_, x.before, b_.hash(y.before)))) {
      // Of two rewrites that the other side never makes, the one deeper in the graph is the cause.
      takeBefore(x);
      d_.kind = Kind::RuleRemoved;
    } else if (yStep) {
      takeAfter(y);
      d_.kind = Kind::RuleAdded;
    } else if (xStep) {
      takeBefore(x);
      d_.kind = Kind::RuleRemoved;
    } else {
      d_.kind = x.kind == StoryEvent::PassBegin   ? Kind::PassRemoved
                : y.kind == StoryEvent::PassBegin ? Kind::PassAdded
                                                  : Kind::BetweenPasses;
      if (x.kind == StoryEvent::PassBegin)
        d_.pass = a_.word(x.word);
      else if (y.kind == StoryEvent::PassBegin)
        d_.pass = b_.word(y.word);
    }
  }

  void atPasses(size_t i, size_t passes) {
    const StoryEvent &x = a_.events()[i], &y = b_.events()[i];
    d_.passNumber = passes, d_.step = 0;
    const std::string &xName = a_.word(x.word), &yName = b_.word(y.word);
    if (xName == yName) {
      d_.kind = Kind::BetweenPasses;
      d_.pass = xName;
      d_.beforeResult = a_.expression(x.before, kDeep), d_.afterResult = b_.expression(y.before, kDeep);
      return;
    }
    auto later = passNames(b_, i);
    bool removed = std::find(later.begin(), later.end(), xName) == later.end();
    d_.kind = removed ? Kind::PassRemoved : Kind::PassAdded;
    d_.pass = removed ? xName : yName;
  }

  void takeBefore(const StoryEvent& x) {
    d_.beforeRule = a_.word(x.word);
    d_.node = a_.expression(x.before, kDeep);
    if (x.after) d_.beforeResult = a_.expression(x.after, kDeep);
  }
  void takeAfter(const StoryEvent& y) {
    d_.afterRule = b_.word(y.word);
    if (d_.node.empty()) d_.node = b_.expression(y.before, kDeep);
    if (y.after) d_.afterResult = b_.expression(y.after, kDeep);
  }

  const Story &a_, &b_;
  Divergence d_;
};

} // namespace

std::string_view divergenceName(Kind kind) {
  static constexpr std::string_view names[] = {
      "none",       "input-differs", "pass-added",   "pass-removed", "between-passes", "result-differs",
      "other-rule", "rule-added",    "rule-removed", "reordered",    "failed"};
  return names[static_cast<size_t>(kind)];
}

std::string Divergence::cause() const {
  switch (kind) {
  case Kind::None: return "nothing";
  case Kind::InputDiffers: return "the compiler was given another graph";
  case Kind::PassAdded: return fmt::format("pass '{}' is new", pass);
  case Kind::PassRemoved: return fmt::format("pass '{}' is gone", pass);
  case Kind::BetweenPasses: return fmt::format("code before pass '{}' makes another graph", pass);
  case Kind::ResultDiffers: return fmt::format("rule '{}' gives another result", afterRule);
  case Kind::OtherRule: return fmt::format("rule '{}' applies in place of '{}'", afterRule, beforeRule);
  case Kind::RuleAdded: return fmt::format("rule '{}' applies where it did not", afterRule);
  case Kind::RuleRemoved: return fmt::format("rule '{}' no longer applies", beforeRule);
  case Kind::Reordered:
    return fmt::format("rules apply in another order, '{}' before '{}'", afterRule, beforeRule);
  case Kind::Failed:
    return !afterRule.empty() || !beforeRule.empty()
               ? fmt::format("rule '{}' fails", afterRule.empty() ? beforeRule : afterRule)
               : fmt::format("one of the compilations ends in pass '{}'", pass);
  }
  return {};
}

std::string Divergence::sentence() const {
  if (!found()) return "both compilations are the same";
  std::string s = cause();
  if (kind == Kind::InputDiffers) return s;
  s += kind == Kind::BetweenPasses || kind == Kind::PassAdded || kind == Kind::PassRemoved
           ? fmt::format(" (pass {})", passNumber + 1)
           : fmt::format(": in pass '{}' (pass {}), rewrite {}", pass, passNumber + 1, step + 1);
  if (!node.empty()) s += fmt::format(", on {}", node);
  if (!beforeResult.empty() || !afterResult.empty())
    s += fmt::format("; before: {}; after: {}", beforeResult.empty() ? "left as it is" : beforeResult,
                     afterResult.empty() ? "left as it is" : afterResult);
  return s;
}

Divergence firstDivergence(const Story& before, const Story& after) {
  return Comparison(before, after).run();
}

} // namespace uopscope
