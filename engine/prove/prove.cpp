// Proves all rules in turn, and decides about the termination of rule sets.
#include "engine/prove/prove.h"

#include "engine/base/error.h"
#include "engine/codegen/decompositions.h"
#include "engine/codegen/final_rules.h"
#include "engine/codegen/lane_rules.h"
#include "engine/codegen/memory.h"
#include "engine/prove/programs.h"
#include "engine/prove/rule_prover.h"
#include "engine/rules/rounding.h"
#include "engine/rules/rules.h"
#include "engine/rules/typing.h"
#include "engine/tensor/known_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope::prove {

namespace {

constexpr std::string_view kOwnTest = "no generated graph or program makes it apply; a test of its own does "
                                      "(engine_tests fails where a rule has none)";

/// A rule that is right where it is used, but not for a node by itself.
struct Assumption {
  std::string_view rule, reason;
};
constexpr Assumption kAssumed[] = {
    {"drop-clauses",
     "the indices of one access hold together: a clause about another axis is dropped from the gate of "
     "this one, and the index of that axis keeps it"},
    {"mark-range-modulo",
     "leaves a mark in the context of its pass and rewrites nothing; split-marked-ranges acts on it"},
    {"mark-range-quotient",
     "leaves a mark in the context of its pass and rewrites nothing; split-marked-ranges acts on it"},
};
const Assumption* assumption(std::string_view rule) {
  for (const Assumption& a : kAssumed)
    if (a.rule == rule) return &a;
  return nullptr;
}

bool matches(std::string_view name, std::string_view wanted) {
  size_t star = wanted.find('*');
  if (star == std::string_view::npos) return name == wanted;
  if (!name.starts_with(wanted.substr(0, star))) return false;
  std::string_view rest = wanted.substr(star + 1);
  for (size_t i = star; i <= name.size(); ++i)
    if (matches(name.substr(i), rest)) return true;
  return false;
}

/// Whether the rule belongs to a spec. Such rules rewrite nothing: they answer whether a node is valid.
bool isSpec(const Rule& rule) {
  return rule.file().ends_with("spec.cpp");
}
RuleProof unproved(const Rule& rule) {
  RuleProof p;
  p.rule = rule.name();
  p.file = rule.file();
  p.line = rule.line();
  return p;
}
/// Checks that the answers of a spec's rule are no part of any graph.
RuleProof proveSpec(const std::shared_ptr<const Rule>& rule, const std::vector<UOp>& graphs) {
  RuleProof p = unproved(*rule);
  p.status = ProofStatus::Checked;
  PatternMatcher one(std::vector<std::shared_ptr<const Rule>>{rule});
  int asked = 0;
  for (UOp graph : graphs)
    for (UOp u : graph.toposort()) {
      UOp answer = one.rewrite(u);
      ++asked;
      if (!answer || answer == accepted()) continue;
      p.status = ProofStatus::Refuted;
      p.counterexample =
          fmt::format("# {} rewrites a node that it should only look at: {}", rule->name(), u.str());
    }
  p.instances = asked;
  p.scope = fmt::format("says whether a node is valid and changes none: asked of {} nodes", asked);
  return p;
}

/// The rule sets that are applied to a fixed point, largest first.
std::vector<const PatternMatcher*> fixedPointSets() {
  static const PatternMatcher decompose = symbolicSimple() + PatternMatcher({decompositionRules()});
  static const PatternMatcher lanes({laneRules(), accessRules()});
  return {&sym(), &symbolic(), &symbolicSimple(), &lowerIndexDtype(), &decompose, &lanes};
}

struct Proving {
  std::vector<std::unique_ptr<RuleProver>> provers; ///< null for a rule of a spec
  std::vector<RuleProof> proofs;
};

void nameMeasures(const Rules& rules, Proving& all) {
  std::vector<bool> named(rules.size(), false);
  for (const PatternMatcher* set : fixedPointSets()) {
    std::vector<const Measures*> measures;
    std::vector<size_t> which;
    for (size_t i = 0; i < rules.size(); ++i) {
      auto same = [&](const auto& r) { return r->definition() && r->definition() == rules[i]->definition(); };
      if (!all.provers[i] || std::none_of(set->rules().begin(), set->rules().end(), same)) continue;
      measures.push_back(&all.provers[i]->measures());
      which.push_back(i);
    }
    std::vector<size_t> by = terminationOrder(measures);
    for (size_t k = 0; k < by.size(); ++k) {
      if (!named[which[k]])
        all.proofs[which[k]].measure = by[k] < kMeasures ? std::string(measureName(by[k])) : "none";
      named[which[k]] = true;
    }
  }
}

RuleProof finished(RuleProof p, const Rule& rule, const ProgramResults& programs, bool hasInstances) {
  const RoundingRule* rounding = roundingRule(p.rule);
  auto applied = programs.right.find(rule.definition());
  if (rule.definition() && applied != programs.right.end()) p.programs = applied->second;
  bool inPrograms = p.programs > 0;
  if (inPrograms && p.status == ProofStatus::Assumed) p.status = ProofStatus::Checked;
  if (inPrograms && p.status == ProofStatus::Checked)
    p.scope +=
        fmt::format("{}{} runs of programs with right results", p.scope.empty() ? "" : "; ", p.programs);
  if (rounding && p.status != ProofStatus::Refuted) {
    if (!hasInstances || p.status != ProofStatus::Proved || !p.isInteger)
      p.status = ProofStatus::ChangesRounding;
    p.reason = rounding->reason;
  }
  if (p.status == ProofStatus::Assumed) p.reason = kOwnTest;
  return p;
}

} // namespace

std::string_view statusName(ProofStatus s) {
  constexpr std::string_view kNames[] = {"proved",           "exhaustive", "checked",
                                         "changes-rounding", "assumed",    "refuted"};
  return kNames[static_cast<size_t>(s)];
}

namespace {

Rules rulesOfTables() {
  Rules out;
  for (const RuleDef* def : knownRules()) out.push_back(std::make_shared<Rule>(*def));
  return out;
}

Rules chosen(const Rules& all, const ProveOptions& o) {
  Rules out;
  for (const auto& rule : all) {
    bool named = o.rule.empty() || matches(rule->name(), o.rule);
    if (named && (o.table.empty() || rule->file().find(o.table) != std::string::npos)) out.push_back(rule);
  }
  return out;
}

std::vector<RuleProof> proveChosen(const Rules& rules, const ProveOptions& options, Rewrites& rewrites,
                                   const ProgramResults& programs) {
  Solver z3(options.milliseconds);
  Proving all;
  for (const auto& rule : rules) {
    all.provers.push_back(nullptr);
    const Assumption* assumed = rule->definition() ? assumption(rule->name()) : nullptr;
    if (assumed) {
      all.proofs.push_back(unproved(*rule));
      all.proofs.back().reason = assumed->reason;
    } else if (isSpec(*rule)) {
      all.proofs.push_back(proveSpec(rule, rewrites.graphs()));
    } else {
      auto prover = std::make_unique<RuleProver>(rule, z3, options);
      prover->proveExpression();
      prover->proveGraphs();
      if (rule->definition()) {
        PoolScope scope(rewrites.pool());
        for (auto [before, after] : rewrites.of(rule->definition())) prover->proveRewrite(before, after);
      }
      bool rounds = roundingRule(rule->name()) != nullptr;
      all.proofs.push_back(finished(prover->verdict(rounds), *rule, programs, prover->hasInstances()));
      all.provers.back() = std::move(prover);
    }
    if (options.onProof) options.onProof(all.proofs.back());
  }
  nameMeasures(rules, all);
  return std::move(all.proofs);
}

void needZ3() {
  if (!Solver::available())
    throw Error(ErrorKind::Unsupported,
                "this program was built without Z3, which proves rules: install libz3-dev "
                "(apt-get install libz3-dev), delete the build folder and build again");
}
[[noreturn]] void noSuchRule(const ProveOptions& o) {
  throw Error(ErrorKind::Key, fmt::format("no rule is called '{}'{}; `uopscope prove` lists them all", o.rule,
                                          o.table.empty() ? "" : " in files of " + o.table));
}
bool stands(const RuleProof& p) {
  return p.status == ProofStatus::Proved || p.status == ProofStatus::Exhaustive ||
         p.status == ProofStatus::Refuted;
}

} // namespace

std::vector<RuleProof> proveRules(const Rules& rules, const ProveOptions& options) {
  needZ3();
  ObserverScope unseen(nullptr);
  Rules some = chosen(rules, options);
  if (some.empty()) noSuchRule(options);
  Rewrites none(0);
  return proveChosen(some, options, none, {});
}

std::vector<RuleProof> proveTables(const ProveOptions& options) {
  needZ3();
  ObserverScope unseen(nullptr);
  Rewrites rewrites(6);
  if (!options.rule.empty() || !options.programs) {
    Rules some = chosen(rulesOfTables(), options);
    std::vector<RuleProof> proofs = proveChosen(some, options, rewrites, {});
    if (!options.programs || (!some.empty() && std::all_of(proofs.begin(), proofs.end(), stands))) {
      if (some.empty()) noSuchRule(options);
      return proofs;
    }
  }
  ProgramResults programs = runPrograms(rewrites); // comes first, since a table is known once it is used
  Rules rules = chosen(rulesOfTables(), options);
  if (rules.empty()) noSuchRule(options);
  std::vector<RuleProof> proofs = proveChosen(rules, options, rewrites, programs);
  for (const std::string& wrong : programs.wrong) {
    RuleProof p;
    p.rule = "a program";
    p.file = "engine/prove/programs.cpp";
    p.status = ProofStatus::Refuted;
    p.counterexample = "# " + wrong;
    proofs.push_back(std::move(p));
  }
  return proofs;
}

} // namespace uopscope::prove
