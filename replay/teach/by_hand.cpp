// The graph in hand lives in a pool of its own, which the variant keeps: its rules compare nodes with nodes of that pool.
#include "replay/teach/by_hand.h"

#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/codegen/kernel_passes.h"
#include "engine/render/renderer.h"
#include "engine/rewrite/driver.h"
#include "engine/runtime/device.h"
#include "replay/compare/recompile.h"
#include "replay/compare/replayed_rules.h"
#include "replay/compare/stored_compilations.h"
#include "replay/read/cursor.h"
#include "replay/read/materialize.h"
#include "replay/teach/hand_offers.h"
#include "replay/teach/hand_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace uopscope {
namespace {

/// A rule that gives one node its answer, in whatever pool it is asked.
class Answer {
public:
  Answer(std::shared_ptr<Pool> owner, UOp before, UOp after)
      : owner_(std::move(owner)), before_(before), after_(after) {}
  UOp of(UOp node) {
    Pool& pool = Pool::current();
    if (serial_ != int64_t{pool.serial()}) {
      serial_ = pool.serial();
      here_ = before_ ? pool.import(before_) : UOp(), made_ = pool.import(after_);
    }
    if (node == made_ || (here_ && node != here_)) return {};
    return made_;
  }

private:
  std::shared_ptr<Pool> owner_; ///< of the two nodes
  UOp before_, after_;          ///< before_ null: any node with its operation
  int64_t serial_ = -1;
  UOp here_, made_;
};

std::shared_ptr<const PatternMatcher> answering(const std::string& rule, const std::string& file, int line,
                                                const std::shared_ptr<Pool>& pool, UOp before, UOp after) {
  PatNode root;
  root.ops.add(before ? before.op() : after.op());
  const auto answer = std::make_shared<Answer>(pool, before, after);
  return std::make_shared<const PatternMatcher>(std::vector{
      std::make_shared<const Rule>(rule, file, line, "", std::vector{root}, std::vector<std::string>(),
                                   [answer](Match& m) { return answer->of(m.root()); })});
}

std::string nameOf(const HandMatch& m) {
  return m.number == 1 ? m.rule : fmt::format("{}#{}", m.rule, m.number);
}

std::vector<std::pair<std::string, int64_t>> quietSettings(const Compilation& kernel) {
  auto values = settingsOf(kernel);
  std::erase_if(values, [](const auto& v) { return v.first == "SPEC"; });
  values.emplace_back("SPEC", 0); // a graph in hand is of no stage
  return values;
}

} // namespace

struct HandGraph::State {
  std::shared_ptr<Pool> pool = std::make_shared<Pool>();
  Compilation stored;
  ScopeId kernel = 0;
  std::string pass, inside; ///< of the step; the nested pass that was asked for
  int64_t step = 0;
  size_t next = 0;       ///< the pass of the table that goes on with the graph
  UOp base, last, graph; ///< at the step, before the last choice, now
  UOpMap<UOp> images;    ///< of the nodes of `last`
  std::vector<HandMatch> chosen;
  std::optional<std::vector<HandMatch>> matches;
  std::vector<Unasked> unasked;

  /// Asks each pass, that of the step first.
  void ask() {
    matches.emplace();
    unasked.clear();
    PoolScope scope(*pool);
    ContextScope settings(quietSettings(stored));
    const ReplayedRules scripts(stored);
    const Target& target = Device::get(stored.device).renderer().target();
    const auto all = kernelPasses();
    UOpMap<std::set<std::string>> met;
    std::map<std::string, size_t> numbers;
    for (size_t k = 0; k < all.size(); ++k) {
      const KernelPass& pass = all[(next + k) % all.size()];
      const HandOffers offers = offersOf(pass, graph, target);
      if (!offers.why.empty()) unasked.push_back({std::string(pass.name), offers.why});
      for (const HandOffers::Offer& o : offers.all)
        if (met[o.before].insert(o.rule->name()).second)
          matches->push_back({o.rule->name(), o.rule->file(), o.rule->line(), ++numbers[o.rule->name()],
                              std::string(pass.name), o.reason, o.before, o.after});
    }
  }
};

std::string HandMatch::name() const {
  return nameOf(*this);
}

HandGraph::HandGraph(Trace& trace, HandPlace place) : state_(std::make_unique<State>()) {
  State& s = *state_;
  const HandPlace whole = wholePlace(trace, place);
  if (whole.pass != place.pass) s.inside = trace.pass(place.pass).name;
  place = whole;
  const PassInfo pass = trace.pass(place.pass);
  const ScopeInfo& scope = trace.scope(pass.scope);
  if (scope.kind != ScopeKind::Kernel)
    throw Error(ErrorKind::Value,
                fmt::format("\"{}\" is a pass of {}, which is no kernel; what-if compiles kernels", pass.name,
                            scope.name));
  s.kernel = scope.id, s.pass = pass.name, s.step = place.step;
  s.stored = storedCompilation(trace, scope.id);
  const HandStart start = handStart(trace, pass, place.step, s.stored);
  s.next = start.next;
  PoolScope in(*s.pool);
  Cursor cursor(trace, pass.id);
  const NodeId root = cursor.rootAt(place.step);
  if (root == kNoNode)
    throw Error(ErrorKind::Value, fmt::format("the trace has no graph of \"{}\"", pass.name));
  UOp graph = Materializer(cursor.reader(), *s.pool)(root);
  if (!graph.is(Op::SINK))
    throw Error(ErrorKind::Value,
                fmt::format("the graph of \"{}\" is no whole kernel: go to another pass", pass.name));
  s.base = s.last = s.graph = start.pin(graph, inputGraph(s.stored));
}

HandGraph::~HandGraph() = default;

ScopeId HandGraph::kernel() const {
  return state_->kernel;
}
UOp HandGraph::graph() const {
  return state_->graph;
}
const std::vector<HandMatch>& HandGraph::matches() {
  if (!state_->matches) state_->ask();
  return *state_->matches;
}
const std::vector<HandGraph::Unasked>& HandGraph::unasked() {
  matches();
  return state_->unasked;
}
const std::vector<HandMatch>& HandGraph::chosen() const {
  return state_->chosen;
}
UOp HandGraph::before() const {
  return state_->last;
}
const UOpMap<UOp>& HandGraph::images() const {
  return state_->images;
}
const std::string& HandGraph::pass() const {
  return state_->pass;
}
int64_t HandGraph::step() const {
  return state_->step;
}
const std::string& HandGraph::inside() const {
  return state_->inside;
}

void HandGraph::choose(const std::string& name) {
  State& s = *state_;
  const auto& all = matches();
  const std::string wanted = name.ends_with("#1") ? name.substr(0, name.size() - 2) : name;
  const auto found = std::ranges::find(all, wanted, nameOf);
  if (found == all.end()) {
    const std::string rule = name.substr(0, name.find('#'));
    const auto same = std::ranges::count(all, rule, &HandMatch::rule);
    throw Error(ErrorKind::Key,
                same ? fmt::format("\"{}\" matches {} nodes there; there is no \"{}\"", rule, same, name)
                     : fmt::format("\"{}\" matches nowhere in the graph {}; --matches lists what does", rule,
                                   s.chosen.empty() ? "at that step" : "after " + s.chosen.back().name()));
  }
  PoolScope scope(*s.pool);
  const HandMatch& match = *found;
  s.last = s.graph;
  s.images.clear();
  s.graph =
      graphRewrite(s.graph, *answering(match.rule, match.file, match.line, s.pool, match.before, match.after),
                   {.name = "by hand", .map = &s.images});
  s.chosen.push_back(match);
  s.matches.reset();
}

Variant HandGraph::variant() const {
  const State& s = *state_;
  Variant v;
  v.after = kernelPassNames()[s.next - 1], v.pass = s.pass;
  v.added.push_back(answering("graph-of-the-step", "", 0, s.pool, {}, s.base));
  std::string names;
  v.told = fmt::format("by hand at step {} of \"{}\"", s.step, s.pass);
  UOpReader known;
  for (const HandMatch& m : s.chosen) {
    v.added.push_back(answering(m.rule, m.file, m.line, s.pool, m.before, m.after));
    names += (names.empty() ? "" : ", ") + m.name();
    v.told += fmt::format("{} {}: {}", &m == &s.chosen.front() ? ":" : ";", m.rule,
                          handExpressions(known, m.before, m.after));
  }
  v.name = fmt::format("by hand: {} ({} {})", names.empty() ? "nothing" : names, s.pass, s.step);
  return v;
}

Variant variantByHand(Trace& trace, const std::string& text, const std::string& kernel) {
  const HandText parts = handText(text);
  HandGraph hand(trace, handPlace(trace, parts.place, kernel));
  for (const std::string& choice : parts.choices) hand.choose(choice);
  return hand.variant();
}

} // namespace uopscope
