// Walks over a trace with as many threads as there are processors. The rewrites are cut into parts at the ends of passes. A
// part gets a checker of its own, whatever thread takes it: its answers are the same in every run.
#include "replay/compare/value_check.h"

#include "replay/compare/on_all_threads.h"
#include "replay/compare/step_checker.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

namespace uopscope {
namespace {

using Verdict = ValueCheck::Verdict;
constexpr size_t kRewritesOfPart = 256;  // a part ends with the pass that reaches this number
constexpr size_t kMostNodes = 4'000'000; // a checker with more is made anew: it forgets what passes told it

struct Rewrite {
  StepId step = 0;
  RuleId rule = 0;
  PassId pass = 0;
  NodeId before = kNoNode, after = kNoNode;
  size_t first = 0; ///< the first rewrite with these nodes: many kernels share one
};

/// Rewrites of a pass, by their place in the list of all, in order.
struct PassRewrites {
  PassId pass = 0;
  std::vector<size_t> rewrites;
};

/// Passes of a part, and the checks of those of its rewrites that are the first of their kind.
struct Part {
  std::vector<PassRewrites> passes;
  std::vector<std::pair<size_t, ValueCheck>> checks;
};

/// The first and the last graph of a pass or of a kernel.
struct Ends {
  PassId pass = 0;
  ScopeId kernel = 0; ///< 0: a pass
  NodeId before = kNoNode, after = kNoNode;
  std::vector<std::pair<PassId, NodeId>> passes = {}; ///< of a kernel, and their last graphs
  ValueCheck check = {};
};

class Survey {
public:
  Survey(Trace& trace, const SurveyOptions& options) : trace_(trace), options_(options) {
    findGivenUp();
    // Nodes are read from the file by one thread at a time.
    read_ = [this, read = trace.nodes().reader()](NodeId id) {
      std::lock_guard lock(reading_);
      return read(id);
    };
  }

  ValueSurvey run() {
    readRewrites();
    std::vector<Part> parts = cutIntoParts();
    out_.complete = onAllThreads(parts.size(), [&](size_t k) { check(parts[k]); }, options_.progress);
    count(parts);
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

  void readRewrites() {
    std::unordered_map<uint64_t, size_t> firsts;
    Statement s = trace_.database().prepare(
        "SELECT id, rule, before, after, pass FROM step WHERE kind <> 2 ORDER BY id");
    while (s.step()) {
      Rewrite r{s.integer(0),
                s.integer(1),
                s.integer(4),
                static_cast<NodeId>(s.integer(2)),
                static_cast<NodeId>(s.integer(3)),
                all_.size()};
      r.first = firsts.try_emplace(uint64_t{r.before} << 32 | r.after, r.first).first->second;
      all_.push_back(r);
      ofPass_[r.pass].push_back(all_.size() - 1);
    }
  }

  std::vector<Part> cutIntoParts() {
    std::vector<Part> parts;
    size_t inPart = kRewritesOfPart;
    for (const auto& [pass, rewrites] : ofPass_) {
      passName(pass); // read before threads ask for it
      if (inPart >= kRewritesOfPart) parts.emplace_back(), inPart = 0;
      parts.back().passes.push_back({pass, rewrites});
      inPart += rewrites.size();
    }
    return parts;
  }

  bool isToCheck(size_t k) const { return all_[k].first == k && all_[k].before != all_[k].after; }

  void check(Part& part) {
    auto checker = std::make_unique<StepChecker>(read_);
    for (const PassRewrites& pass : part.passes) {
      size_t left = static_cast<size_t>(
          std::count_if(pass.rewrites.begin(), pass.rewrites.end(), [&](size_t k) { return isToCheck(k); }));
      const std::set<NodeId> merged = left ? mergedNodes(pass) : std::set<NodeId>();
      std::map<NodeId, ValueCheck> together;
      for (const size_t k : pass.rewrites) {
        if (left == 0) break; // the rest of what the pass tells is for nobody
        const Rewrite& r = all_[k];
        if (checker->nodes() > kMostNodes) {
          checker.reset(); // first: its pool holds the nodes
          checker = std::make_unique<StepChecker>(read_);
        }
        if (isToCheck(k)) {
          part.checks.emplace_back(k, check(*checker, r, pass, merged, together));
          --left;
        } else if (r.before != r.after) {
          checker->learn(r.before, r.after, r.pass);
        }
      }
    }
  }

  /// The nodes that several nodes of a pass became.
  std::set<NodeId> mergedNodes(const PassRewrites& pass) {
    std::map<NodeId, NodeId> from;
    std::set<NodeId> out;
    for (const size_t k : pass.rewrites)
      if (from.try_emplace(all_[k].after, all_[k].before).first->second != all_[k].before)
        out.insert(all_[k].after);
    return out;
  }

  ValueCheck check(StepChecker& checker, const Rewrite& r, const PassRewrites& pass,
                   const std::set<NodeId>& merged, std::map<NodeId, ValueCheck>& together) {
    const std::string& name = names_.at(r.pass);
    if (r.after == kNoNode || !merged.contains(r.after) || !checker.isEffect(r.after))
      return checker.check(r.before, r.after, {}, r.pass, name);
    // Effects that became one are compared together, once: each alone writes less.
    const auto [it, isNew] = together.try_emplace(r.after);
    if (isNew) {
      std::set<NodeId> before;
      for (const size_t k : pass.rewrites)
        if (all_[k].after == r.after) before.insert(all_[k].before);
      it->second = checker.checkMerged({before.begin(), before.end()}, r.after, {});
    }
    if (it->second.verdict == Verdict::Same) return it->second;
    const ValueCheck alone = checker.check(r.before, r.after, {}, r.pass, name);
    return alone.verdict == Verdict::Same ? alone : it->second;
  }

  void count(std::vector<Part>& parts) {
    std::unordered_map<size_t, ValueCheck> checks;
    for (Part& part : parts)
      for (auto& [k, check] : part.checks) checks.emplace(k, std::move(check));
    for (const Rewrite& r : all_) {
      const auto known = checks.find(r.first);
      if (r.before != r.after && known == checks.end()) continue; // stopped before
      ++out_.checked;
      if (r.before == r.after) {
        ++out_.unchanged;
        continue;
      }
      ValueCheck c = known->second;
      leaveHalfRanged(c, passName(r.pass));
      leaveGivenUp(c, r.pass);
      out_.same += c.verdict == Verdict::Same;
      out_.unknown += c.verdict == Verdict::Unknown;
      out_.differ += c.verdict == Verdict::Differs;
      if (c.verdict == Verdict::Unknown)
        blind(r.step, trace_.rule(r.rule).name, r.rule, passName(r.pass), c.why);
      if (c.verdict == Verdict::Differs && out_.faults.size() < options_.mostFaults)
        out_.faults.push_back({r.step, r.rule, r.pass, 0, std::move(c)});
    }
  }

  void blind(StepId step, const std::string& rule, RuleId id, const std::string& pass,
             const std::string& why) {
    auto& b = blind_[{id, id ? pass : rule, why}];
    if (b.count++ == 0) b.rule = rule, b.pass = pass, b.why = why, b.first = step;
  }
  const std::string& passName(PassId pass) {
    auto [it, isNew] = names_.try_emplace(pass);
    if (isNew) it->second = trace_.pass(pass).name;
    return it->second;
  }

  void wholes() {
    std::vector<Ends> all;
    for (const ScopeInfo& scope : trace_.scopes()) {
      if (givenUp_.contains(scope.id)) continue;
      const PassInfo *first = nullptr, *last = nullptr;
      std::vector<std::pair<PassId, NodeId>> passes;
      for (const PassInfo& pass : trace_.passes(scope.id)) {
        if (pass.depth > 0 || pass.root == kNoNode || pass.endRoot == kNoNode) continue;
        if (pass.steps && !isTransform(pass.name)) all.push_back({pass.id, 0, pass.root, pass.endRoot});
        if (!first) first = &pass;
        last = &pass;
        passes.emplace_back(pass.id, pass.endRoot);
      }
      if (scope.kind == ScopeKind::Kernel && first && first != last)
        all.push_back({last->id, scope.id, first->root, last->endRoot, std::move(passes)});
    }
    out_.complete = onAllThreads(all.size(), [&](size_t k) { whole(all[k]); }, options_.progress);
    if (out_.complete)
      for (Ends& e : all) count(e);
  }

  void whole(Ends& e) {
    const CheckLimits limits{.samples = 3, .perSample = 8'000'000, .total = 20'000'000, .inAll = 1'000'000};
    StepChecker checker(read_); // a pass knows of its own loops alone
    e.check = e.kernel ? checker.check(e.before, e.after, limits, 0)
                       : checker.checkEnds(e.before, e.after, rewritesOf(e.pass), limits);
    if (e.check.verdict != Verdict::Differs) return;
    for (const auto& [pass, end] : e.passes) {
      StepChecker upTo(read_);
      if (ValueCheck c = upTo.check(e.before, end, limits, 0); c.verdict == Verdict::Differs) {
        e.pass = pass, e.check = std::move(c);
        return;
      }
    }
  }
  std::vector<std::pair<NodeId, NodeId>> rewritesOf(PassId pass) const {
    std::vector<std::pair<NodeId, NodeId>> out;
    if (const auto it = ofPass_.find(pass); it != ofPass_.end())
      for (const size_t k : it->second)
        if (const Rewrite& r = all_[k]; r.before != r.after && r.after != kNoNode)
          out.emplace_back(r.before, r.after);
    return out;
  }

  void count(Ends& e) {
    ValueSurvey::Whole& sum = e.kernel ? out_.kernels : out_.passes;
    ++sum.checked;
    sum.same += e.check.verdict == Verdict::Same;
    sum.unknown += e.check.verdict == Verdict::Unknown;
    if (e.check.verdict == Verdict::Unknown)
      blind(0, e.kernel ? "a whole kernel" : "a whole pass", 0, passName(e.pass), e.check.why);
    if (e.check.verdict == Verdict::Differs && out_.faults.size() < options_.mostFaults)
      out_.faults.push_back({0, 0, e.pass, e.kernel, std::move(e.check)});
  }

  Trace& trace_;
  const SurveyOptions& options_;
  std::mutex reading_;
  NodeReader read_;
  ValueSurvey out_;
  std::vector<Rewrite> all_;                     ///< in order of steps
  std::map<PassId, std::vector<size_t>> ofPass_; ///< places in all_
  std::map<std::tuple<RuleId, std::string, std::string>, ValueSurvey::Blind> blind_;
  std::map<PassId, std::string> names_;
  std::set<ScopeId> givenUp_;
};

} // namespace

ValueSurvey checkTrace(Trace& trace, const SurveyOptions& options) {
  return Survey(trace, options).run();
}

} // namespace uopscope
