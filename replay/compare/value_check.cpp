// Walks over a trace. The checker makes nodes once for many rewrites. When its pool has grown large, both are
// dropped, with the memory of all passes.
#include "replay/compare/value_check.h"

#include "engine/base/error.h"
#include "replay/compare/pass_memory.h"
#include "replay/compare/transform_check.h"
#include "replay/read/materialize.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace uopscope {
namespace {

using Verdict = ValueCheck::Verdict;
constexpr size_t kMostNodes = 4'000'000;

/// Within "apply rangeify", movement operations stand over values that loops index already. Neither side is a
/// tensor or a value yet, so different results prove nothing.
void leaveHalfRanged(ValueCheck& c, std::string_view pass) {
  if (c.verdict != Verdict::Differs || pass != "apply rangeify") return;
  c.verdict = Verdict::Unknown;
  c.why = "a graph half of tensors, half of ranges has no value of its own: --whole compares the pass";
}

/// Whether a node is a name: of memory, of a variable's value, of a constant that equals no other.
bool isName(UOp u) {
  return u.in(OpSet{Op::BUFFER, Op::BUFFER_VIEW, Op::BIND}) || (u.is(Op::CONST) && u.srcCount() > 1);
}
/// Whether the rewrite says which value an argument of a transform has: that is no claim about the argument.
bool isDefinition(UOp before, std::string_view pass) {
  return pass == "arguments" && before.is(Op::BUFFER);
}

/// Makes nodes of a trace and compares them.
class StepChecker {
public:
  explicit StepChecker(const NodeReader& read) : read_(read), make_(read_, checker_.pool()) {}

  ValueCheck check(NodeId before, NodeId after, const CheckLimits& limits, PassId pass,
                   std::string_view passName = {}) {
    ValueCheck out;
    if (after == kNoNode) {
      out.why = "the rule failed";
      return out;
    }
    try {
      const UOp a = make_(before), b = make_(after);
      if (isDefinition(a, passName)) {
        out.verdict = Verdict::Same;
        return out;
      }
      if (isTransform(passName)) {
        TransformMemory& known = transforms_[pass];
        known.try_emplace(a, b);
        return checkTransform(checker_, passName, a, b, known, limits);
      }
      PassMemory& memory = passes_[pass];
      learnBefore(a, b, memory);
      out = checker_.check(a, b, limits, &memory);
      learnAfter(a, b, memory);
    } catch (const Error& e) {
      out.verdict = Verdict::Unknown;
      out.why = e.what();
    }
    return out;
  }
  /// Learns from a rewrite that was already checked in a different pass.
  void learn(NodeId before, NodeId after, PassId pass) {
    if (after == kNoNode) return;
    try {
      const UOp a = make_(before), b = make_(after);
      transforms_[pass].try_emplace(a, b);
      learnBefore(a, b, passes_[pass]);
      learnAfter(a, b, passes_[pass]);
    } catch (const Error&) {
      return; // the first check has reported the error
    }
  }
  /// Checks several rewrites with the same resulting effect: together they must do the same as it does.
  ValueCheck checkMerged(const std::vector<NodeId>& before, NodeId after, const CheckLimits& limits) {
    ValueCheck out;
    try {
      std::vector<UOp> all;
      for (const NodeId b : before) all.push_back(make_(b));
      out = checker_.check(UOp::groupOf(all), make_(after), limits);
    } catch (const Error& e) {
      out.why = e.what();
    }
    return out;
  }
  /// Compares the ends of a pass. What its rewrites call otherwise (buffers that are numbered, an argument that gets its
  /// value) is called so at both ends.
  ValueCheck checkEnds(NodeId before, NodeId after, const std::vector<std::pair<NodeId, NodeId>>& rewrites,
                       const CheckLimits& limits) {
    ValueCheck out;
    try {
      UOpMap<UOp> names;
      for (const auto& [from, to] : rewrites)
        if (const UOp a = make_(from), b = make_(to); isName(a) && a != b) names[a] = b;
      return checker_.check(make_(before).substitute(names), make_(after), limits);
    } catch (const Error& e) {
      out.why = e.what();
    }
    return out;
  }
  bool isEffect(NodeId node) { return read_(node).dtype.isVoid(); }
  size_t nodes() { return checker_.pool().liveNodes(); }

private:
  NodeReader read_;
  RewriteChecker checker_;
  Materializer make_;
  std::map<PassId, PassMemory> passes_;
  std::map<PassId, TransformMemory> transforms_;
};

/// The nodes of a pass that were rewritten to the node `after`.
std::vector<NodeId> mergedWith(Trace& trace, PassId pass, NodeId after) {
  Statement s = trace.database().prepare(
      "SELECT DISTINCT before FROM step WHERE pass = ?1 AND after = ?2 AND kind <> 2 ORDER BY before");
  s.bind(1, pass), s.bind(2, static_cast<int64_t>(after));
  std::vector<NodeId> out;
  while (s.step()) out.push_back(static_cast<NodeId>(s.integer(0)));
  return out;
}

/// The nodes that several nodes of a pass became.
std::set<NodeId> mergedNodes(Trace& trace, PassId pass) {
  Statement s = trace.database().prepare("SELECT after FROM step WHERE pass = ?1 AND kind <> 2 GROUP BY "
                                         "after HAVING count(DISTINCT before) > 1");
  s.bind(1, pass);
  std::set<NodeId> out;
  while (s.step()) out.insert(static_cast<NodeId>(s.integer(0)));
  return out;
}

class Survey {
public:
  Survey(Trace& trace, const SurveyOptions& options)
      : trace_(trace), options_(options), checker_(std::make_unique<StepChecker>(trace.nodes().reader())) {
    findGivenUp();
  }

  ValueSurvey run() {
    steps();
    if (out_.complete && options_.whole) wholes();
    for (auto& [key, blind] : blind_) out_.blind.push_back(std::move(blind));
    std::stable_sort(out_.blind.begin(), out_.blind.end(),
                     [](const auto& a, const auto& b) { return a.count > b.count; });
    return std::move(out_);
  }

private:
  /// A schedule whose stores would wait for each other is made again, in a scope of its own inside the schedule's: only the
  /// last attempt is run.
  void findGivenUp() {
    std::map<ScopeId, ScopeId> latest; // of each schedule
    for (const ScopeInfo& scope : trace_.scopes()) {
      if (scope.kind == ScopeKind::Schedule) latest[scope.id] = scope.id;
      const auto of = scope.kind == ScopeKind::Other ? latest.find(scope.parent) : latest.end();
      if (of != latest.end()) givenUp_.insert(std::exchange(of->second, scope.id));
    }
  }
  void leaveGivenUp(ValueCheck& c, PassId pass) {
    if (c.verdict != Verdict::Differs || !givenUp_.contains(trace_.pass(pass).scope)) return;
    c.verdict = Verdict::Unknown;
    c.why = "the schedule gave this attempt up, because its stores would wait for each other";
  }

  void steps() {
    Statement count = trace_.database().prepare("SELECT coalesce(max(id), 0) FROM step");
    count.step();
    const auto total = static_cast<double>(std::max<int64_t>(1, count.integer(0)));
    Statement s = trace_.database().prepare(
        "SELECT id, rule, before, after, pass FROM step WHERE kind <> 2 ORDER BY id");
    while (s.step()) {
      const StepId id = s.integer(0);
      if (++out_.checked % 64 == 0 && options_.progress &&
          !options_.progress(static_cast<double>(id) / total))
        return;
      step(id, s.integer(1), static_cast<NodeId>(s.integer(2)), static_cast<NodeId>(s.integer(3)),
           s.integer(4));
    }
    out_.complete = true;
  }

  void step(StepId id, RuleId rule, NodeId before, NodeId after, PassId pass) {
    if (before == after) {
      ++out_.unchanged;
      return;
    }
    const auto known = seen_.find({before, after}); // many kernels share a rewrite
    ValueCheck c = known != seen_.end() ? known->second : check(before, after, pass);
    leaveHalfRanged(c, passName(pass));
    if (known != seen_.end()) checker_->learn(before, after, pass);
    if (known == seen_.end()) seen_.emplace(std::pair{before, after}, c);
    leaveGivenUp(c, pass);
    out_.same += c.verdict == Verdict::Same;
    out_.unknown += c.verdict == Verdict::Unknown;
    out_.differ += c.verdict == Verdict::Differs;
    if (c.verdict == Verdict::Unknown) blind(id, rule, pass, c.why);
    if (c.verdict == Verdict::Differs && out_.faults.size() < options_.mostFaults)
      out_.faults.push_back({id, rule, pass, 0, std::move(c)});
  }

  ValueCheck check(NodeId before, NodeId after, PassId pass) {
    if (checker_->nodes() > kMostNodes) {
      checker_.reset(); // first: its pool holds the nodes
      checker_ = std::make_unique<StepChecker>(trace_.nodes().reader());
    }
    if (after == kNoNode || !checker_->isEffect(after))
      return checker_->check(before, after, {}, pass, passName(pass));
    // Effects that became one are compared together, once: each alone writes less.
    const auto [nodes, isFirst] = mergedNodes_.try_emplace(pass);
    if (isFirst) nodes->second = mergedNodes(trace_, pass);
    const auto [merged, isNew] = merged_.try_emplace({pass, after});
    if (isNew && nodes->second.contains(after))
      merged->second = checker_->checkMerged(mergedWith(trace_, pass, after), after, {});
    if (merged->second && merged->second->verdict == Verdict::Same) return *merged->second;
    const ValueCheck alone = checker_->check(before, after, {}, pass, passName(pass));
    return alone.verdict == Verdict::Same || !merged->second ? alone : *merged->second;
  }

  void blind(StepId id, RuleId rule, PassId pass, const std::string& why) {
    const std::string& name = trace_.rule(rule).name;
    auto& b = blind_[{rule, passName(pass), why}];
    if (b.count++ == 0) b.rule = name, b.pass = passName(pass), b.why = why, b.first = id;
  }
  const std::string& passName(PassId pass) {
    auto [it, isNew] = names_.try_emplace(pass);
    if (isNew) it->second = trace_.pass(pass).name;
    return it->second;
  }

  void wholes() {
    for (const ScopeInfo& scope : trace_.scopes()) {
      if (options_.progress && !options_.progress(1)) return;
      if (givenUp_.contains(scope.id)) continue;
      const PassInfo *first = nullptr, *last = nullptr;
      for (const PassInfo& pass : trace_.passes(scope.id)) {
        if (pass.depth > 0 || pass.root == kNoNode || pass.endRoot == kNoNode) continue;
        if (pass.steps && !isTransform(pass.name)) whole(pass.root, pass.endRoot, out_.passes, pass.id, 0);
        if (!first) first = &pass;
        last = &pass;
      }
      if (scope.kind == ScopeKind::Kernel && first && first != last)
        whole(first->root, last->endRoot, out_.kernels, last->id, scope.id);
    }
  }
  void whole(NodeId before, NodeId after, ValueSurvey::Whole& count, PassId pass, ScopeId kernel) {
    ++count.checked;
    const CheckLimits limits{.samples = 3, .perSample = 8'000'000, .total = 20'000'000, .inAll = 1'000'000};
    StepChecker checker(trace_.nodes().reader()); // a pass knows of its own loops alone
    ValueCheck c = kernel ? checker.check(before, after, limits, 0)
                          : checker.checkEnds(before, after, rewritesOf(pass), limits);
    count.same += c.verdict == Verdict::Same;
    count.unknown += c.verdict == Verdict::Unknown;
    if (c.verdict == Verdict::Unknown) {
      auto& b = blind_[{0, kernel ? "(kernel)" : passName(pass), c.why}];
      if (b.count++ == 0)
        b.rule = kernel ? "a whole kernel" : "a whole pass", b.pass = passName(pass), b.why = c.why;
    }
    if (c.verdict == Verdict::Differs && out_.faults.size() < options_.mostFaults)
      out_.faults.push_back({0, 0, pass, kernel, std::move(c)});
  }

  std::vector<std::pair<NodeId, NodeId>> rewritesOf(PassId pass) {
    Statement s = trace_.database().prepare(
        "SELECT before, after FROM step WHERE pass = ? AND kind <> 2 AND before <> after AND after <> 0");
    s.bind(1, pass);
    std::vector<std::pair<NodeId, NodeId>> out;
    while (s.step()) out.emplace_back(static_cast<NodeId>(s.integer(0)), static_cast<NodeId>(s.integer(1)));
    return out;
  }

  Trace& trace_;
  const SurveyOptions& options_;
  std::unique_ptr<StepChecker> checker_;
  ValueSurvey out_;
  std::map<std::pair<NodeId, NodeId>, ValueCheck> seen_;
  std::map<std::pair<PassId, NodeId>, std::optional<ValueCheck>> merged_; ///< effects that several became
  std::map<PassId, std::set<NodeId>> mergedNodes_;
  std::map<std::tuple<RuleId, std::string, std::string>, ValueSurvey::Blind> blind_;
  std::map<PassId, std::string> names_;
  std::set<ScopeId> givenUp_;
};

} // namespace

ValueCheck checkRewrite(const NodeReader& read, NodeId before, NodeId after, int samples) {
  StepChecker checker(read);
  CheckLimits limits;
  limits.samples = samples;
  limits.inAll *= 10, limits.total *= 10;
  return checker.check(before, after, limits, 0);
}

ValueCheck checkStep(Trace& trace, StepId step, int samples) {
  StepChecker checker(trace.nodes().reader());
  CheckLimits limits{.samples = 1};
  Statement s = trace.database().prepare("SELECT id, before, after FROM step WHERE pass = (SELECT pass FROM "
                                         "step WHERE id = ?1) AND id <= ?1 AND "
                                         "kind <> 2 AND before <> after ORDER BY id");
  s.bind(1, step);
  ValueCheck last;
  last.why = "the rule failed";
  Statement name = trace.database().prepare("SELECT string.value FROM step JOIN pass ON pass.id = step.pass "
                                            "JOIN string ON string.id = pass.name WHERE step.id = ?");
  const std::string pass = name.bind(1, step).step() ? std::string(name.text(0)) : std::string();
  while (s.step()) { // earlier rewrites of the pass, whose values this one may need
    if (s.integer(0) == step) limits = {.samples = samples, .total = 12'000'000, .inAll = 3'000'000};
    last =
        checker.check(static_cast<NodeId>(s.integer(1)), static_cast<NodeId>(s.integer(2)), limits, 0, pass);
  }
  leaveHalfRanged(last, pass);
  return last;
}

ValueSurvey checkTrace(Trace& trace, const SurveyOptions& options) {
  return Survey(trace, options).run();
}

} // namespace uopscope
