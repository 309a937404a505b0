// Nodes are made once in one pool, whatever number of passes has them; so a rule is asked once for each node.
#include "replay/teach/rule_bench.h"

#include "engine/base/error.h"
#include "replay/compare/rewrite_check.h"
#include "replay/compare/stored_compilations.h"
#include "replay/read/materialize.h"
#include "replay/read/readable.h"
#include "replay/read/uop_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace uopscope {
namespace {

constexpr int kPrintedDepth = 5;
constexpr size_t kPrintedLength = 160;

std::string firstLine(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

class Bench {
public:
  Bench(Trace& trace, const std::shared_ptr<const PatternMatcher>& rules, const std::string& after,
        const RuleBenchOptions& options)
      : trace_(trace), rules_(rules), options_(options), make_(trace.nodes().reader(), pool_) {
    out_.after = after;
    for (const auto& rule : rules->rules()) {
      alone_.emplace_back(std::vector{rule});
      RuleTrial& trial = out_.rules.emplace_back();
      trial.rule = rule->name(), trial.file = rule->file(), trial.line = rule->line();
      if (options.drawPattern) trial.pattern = options.drawPattern(*rule);
    }
    answers_.resize(alone_.size());
  }

  RuleBench run() {
    for (const ScopeInfo& scope : trace_.scopes())
      if ((scope.kind == ScopeKind::Kernel || scope.kind == ScopeKind::Schedule) &&
          (!options_.scope || options_.scope == scope.id))
        match(scope);
    for (const ScopeInfo& scope : trace_.scopes())
      if (scope.kind == ScopeKind::Kernel && (!options_.scope || options_.scope == scope.id) &&
          joined_.contains(scope.id))
        compile(scope.id);
    return std::move(out_);
  }

private:
  void match(const ScopeInfo& scope) {
    const std::vector<PassInfo> passes = trace_.passes(scope.id);
    for (const PassInfo& pass : passes) {
      const bool joins = pass.name == out_.after;
      if (pass.depth > 0 || pass.endRoot == kNoNode || (!joins && pass.steps == 0)) continue;
      const std::vector<NodeId> nodes = trace_.nodes().toposort(pass.endRoot);
      for (size_t r = 0; r < alone_.size(); ++r) {
        RuleTrial& trial = out_.rules[r];
        RuleTrial::Place place{scope.id, pass.id, scope.name, pass.name, joins, 0, kNoNode, {}, {}, {}};
        for (const NodeId node : nodes) {
          const UOp result = answer(r, node);
          if (!result) continue;
          if (place.nodes++ == 0) {
            place.first = node;
            place.before = print(make_(node)), place.after = print(result);
            if (options_.draw) place.picture = options_.draw(make_(node), result);
          }
          if (joins) check(trial, place, node, result);
        }
        if (!place.nodes) continue;
        if (joins) trial.nodes += place.nodes, joined_.insert(scope.id);
        trial.places.push_back(std::move(place));
      }
    }
  }

  std::string print(UOp u) {
    return readableExpression(known_.reader(), known_.idOf(u), kPrintedDepth, kPrintedLength);
  }

  /// What the rule makes of a node; null where it does not apply or fails.
  UOp answer(size_t rule, NodeId node) {
    const auto [it, isNew] = answers_[rule].try_emplace(node);
    if (!isNew) return it->second;
    PoolScope scope(pool_);
    try {
      const UOp u = make_(node), made = alone_[rule].rewrite(u);
      if (made && made != u) it->second = made;
    } catch (const std::exception& e) {
      if (out_.rules[rule].problem.empty()) out_.rules[rule].problem = firstLine(e.what());
    }
    return it->second;
  }

  void check(RuleTrial& trial, const RuleTrial::Place& place, NodeId node, UOp result) {
    if (!checked_.insert({&trial, node}).second) return;
    if (trial.same + trial.unknown + trial.differ.size() >= options_.checks) return;
    ValueCheck c;
    try {
      PoolScope scope(checker_.pool());
      c = checker_.check(checker_.pool().import(make_(node)), checker_.pool().import(result), {});
    } catch (const std::exception& e) {
      c.why = e.what();
    }
    if (c.verdict == ValueCheck::Verdict::Same) {
      ++trial.same;
    } else if (c.verdict == ValueCheck::Verdict::Unknown) {
      if (trial.unknown++ == 0) trial.why = c.why;
    } else {
      trial.differ.push_back(
          {place.scope, place.pass, node, print(make_(node)), print(result), c.where, c.before, c.after});
    }
  }

  void compile(ScopeId kernel) {
    Variant with{.name = "with the rules"};
    with.added = {rules_}, with.after = out_.after;
    WhatIf w;
    try {
      w = whatIf(storedCompilation(trace_, kernel), {with}, options_.kernels);
    } catch (const Error& e) {
      w.kernel = trace_.scope(kernel).name;
      w.variants.push_back({});
      w.variants[0].name = with.name, w.variants[0].problem = e.what();
    }
    ++out_.compiled;
    if (!w.variants[0].sameCode) out_.kernels.push_back(std::move(w));
  }

  Trace& trace_;
  std::shared_ptr<const PatternMatcher> rules_;
  const RuleBenchOptions& options_;
  Pool pool_;
  Materializer make_;
  RewriteChecker checker_;
  UOpReader known_; ///< for expressions of nodes that no trace has
  std::vector<PatternMatcher> alone_;
  std::vector<std::unordered_map<NodeId, UOp>> answers_; ///< by rule
  std::set<ScopeId> joined_;
  std::set<std::pair<const RuleTrial*, NodeId>> checked_;
  RuleBench out_;
};

std::string placeOf(const RuleTrial& r) {
  return fmt::format("{}:{}", r.file.substr(r.file.rfind('/') + 1), r.line);
}

} // namespace

RuleBench benchRules(Trace& trace, const std::shared_ptr<const PatternMatcher>& rules,
                     const std::string& after, const RuleBenchOptions& options) {
  return Bench(trace, rules, after, options).run();
}

bool isBad(const RuleBench& b) {
  return std::ranges::any_of(b.rules,
                             [](const RuleTrial& r) { return !r.differ.empty() || !r.problem.empty(); }) ||
         std::ranges::any_of(b.kernels, [](const WhatIf& w) {
           return std::ranges::any_of(w.variants,
                                      [](const auto& v) { return v.wrong || !v.problem.empty(); });
         });
}

std::string ruleBenchText(const RuleBench& b) {
  std::string out =
      fmt::format("{} {} after \"{}\"\n", b.rules.size(), b.rules.size() == 1 ? "rule" : "rules", b.after);
  for (const RuleTrial& r : b.rules) {
    out += fmt::format("\n{} ({})\n", r.rule, placeOf(r));
    if (!r.problem.empty()) out += fmt::format("  it fails: {}\n", r.problem);
    if (r.nodes == 0) out += "  rewrites no node there\n";
    for (const RuleTrial::Place& p : r.places)
      if (p.joins)
        out += fmt::format("  {} {} of {} ({})\n    {}  →  {}\n", p.nodes, p.nodes == 1 ? "node" : "nodes",
                           p.scopeName, p.scope, p.before, p.after);
    std::map<std::string, size_t> elsewhere;
    for (const RuleTrial::Place& p : r.places)
      if (!p.joins) elsewhere[p.passName] += p.nodes;
    std::string names;
    for (const auto& [pass, nodes] : elsewhere)
      names += fmt::format("{}{} {}", names.empty() ? "" : ", ", pass, nodes);
    if (!names.empty()) out += fmt::format("  after other passes it would rewrite: {}\n", names);
    const size_t checked = r.same + r.unknown + r.differ.size();
    if (checked)
      out += fmt::format(
          "  check: of {} different rewrites {} keep the value, {} differ, {} cannot be evaluated{}\n",
          checked, r.same, r.differ.size(), r.unknown, r.why.empty() ? "" : " (" + r.why + ")");
    for (const RuleTrial::Fault& f : r.differ)
      out += fmt::format("    {}  →  {}: {} before and {} after{}\n", f.expression, f.result, f.before,
                         f.after, f.where.empty() ? "" : ", for " + f.where);
  }
  out += fmt::format("\n{} {} compiled with {}, the code of {} changes\n", b.compiled,
                     b.compiled == 1 ? "kernel" : "kernels", b.rules.size() == 1 ? "it" : "them",
                     b.kernels.size());
  return out;
}

nlohmann::ordered_json ruleBenchJson(const RuleBench& b) {
  using Json = nlohmann::ordered_json;
  Json rules = Json::array(), kernels = Json::array();
  for (const RuleTrial& r : b.rules) {
    Json places = Json::array(), faults = Json::array();
    for (const RuleTrial::Place& p : r.places)
      places.push_back(Json{{"scope", p.scope},
                            {"kernel", p.scopeName},
                            {"pass", p.pass},
                            {"pass_name", p.passName},
                            {"joins", p.joins},
                            {"nodes", p.nodes},
                            {"first", p.first},
                            {"before", p.before},
                            {"after", p.after},
                            {"picture", p.picture}});
    for (const RuleTrial::Fault& f : r.differ)
      faults.push_back(Json{{"scope", f.scope},
                            {"pass", f.pass},
                            {"node", f.node},
                            {"expression", f.expression},
                            {"result", f.result},
                            {"where", f.where},
                            {"before", f.before},
                            {"after", f.after}});
    rules.push_back(Json{{"rule", r.rule},
                         {"file", r.file},
                         {"line", r.line},
                         {"nodes", r.nodes},
                         {"problem", r.problem},
                         {"same", r.same},
                         {"unknown", r.unknown},
                         {"why", r.why},
                         {"differ", faults},
                         {"pattern", r.pattern},
                         {"places", places}});
  }
  for (const WhatIf& w : b.kernels) kernels.push_back(whatIfJson(w));
  return Json{{"after", b.after}, {"rules", rules}, {"compiled", b.compiled}, {"kernels", kernels}};
}

} // namespace uopscope
