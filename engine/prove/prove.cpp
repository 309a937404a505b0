// Proves all rules in turn, and decides about the termination of rule sets.
#include "engine/prove/prove.h"

#include "engine/base/cpu_count.h"
#include "engine/base/error.h"
#include "engine/codegen/decompositions.h"
#include "engine/codegen/final_rules.h"
#include "engine/codegen/lane_rules.h"
#include "engine/codegen/memory.h"
#include "engine/prove/process_copies.h"
#include "engine/prove/programs.h"
#include "engine/prove/rule_prover.h"
#include "engine/rules/rounding.h"
#include "engine/rules/rules.h"
#include "engine/rules/typing.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace uopscope::prove {

namespace {

constexpr std::string_view kOwnTest = "no generated graph or program makes it apply; a test of its own does "
                                      "(engine_tests fails where a rule has none)";
constexpr std::string_view kOfTransform =
    "makes the derivative or the batch of an operation: test_transforms.py "
    "compares derivatives with differences and batches with loops";

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

} // namespace

// How a copy of the process tells a proof.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RuleProof, rule, file, line, status, isInteger, integersProved, scope,
                                   reason, counterexample, measure, instances, programs)

namespace {

/// A proof, and what its instances say about termination; none for a rule that is not compared with anything.
struct Proved {
  RuleProof proof;
  std::optional<Measures> measures;
};

std::string textOf(const Proved& p) {
  nlohmann::json told = p.proof;
  if (p.measures) told["measures"] = p.measures->text();
  return told.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Proved provedOf(const std::string& text) {
  const nlohmann::json told = nlohmann::json::parse(text);
  Proved p{told.get<RuleProof>(), {}};
  if (told.contains("measures")) p.measures = Measures::of(told["measures"].get<std::string>());
  return p;
}

void nameMeasures(const Rules& rules, std::vector<Proved>& all) {
  std::vector<bool> named(rules.size(), false);
  for (const PatternMatcher* set : fixedPointSets()) {
    std::vector<const Measures*> measures;
    std::vector<size_t> which;
    for (size_t i = 0; i < rules.size(); ++i) {
      auto same = [&](const auto& r) { return r->definition() && r->definition() == rules[i]->definition(); };
      if (!all[i].measures || std::none_of(set->rules().begin(), set->rules().end(), same)) continue;
      measures.push_back(&*all[i].measures);
      which.push_back(i);
    }
    std::vector<size_t> by = terminationOrder(measures);
    for (size_t k = 0; k < by.size(); ++k) {
      if (!named[which[k]])
        all[which[k]].proof.measure = by[k] < kMeasures ? std::string(measureName(by[k])) : "none";
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
  if (p.status == ProofStatus::Assumed)
    p.reason = p.file.find("transform") == std::string::npos ? kOwnTest : kOfTransform;
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

Proved proveOne(const std::shared_ptr<const Rule>& rule, const ProveOptions& options,
                const Rewrites& rewrites, const ProgramResults& programs) {
  if (const Assumption* assumed = rule->definition() ? assumption(rule->name()) : nullptr) {
    RuleProof p = unproved(*rule);
    p.reason = assumed->reason;
    return {std::move(p), {}};
  }
  if (isSpec(*rule)) return {proveSpec(rule, rewrites.graphs()), {}};
  Solver z3(options.milliseconds);
  RuleProver prover(rule, z3, options);
  prover.proveExpression();
  prover.proveGraphs();
  if (rule->definition()) {
    Pool own; // what a proof finds depends on no other proof
    PoolScope scope(own);
    for (auto [before, after] : rewrites.of(rule->definition())) {
      UOpMap<UOp> imported;
      UOp from = own.import(before, &imported);
      prover.proveRewrite(from, own.import(after, &imported));
    }
  }
  bool rounds = roundingRule(rule->name()) != nullptr;
  return {finished(prover.verdict(rounds), *rule, programs, prover.hasInstances()), prover.measures()};
}

/// Proofs in the order of the rules, made by so many copies of the process.
std::vector<RuleProof> proveChosen(const Rules& rules, const ProveOptions& options, const Rewrites& rewrites,
                                   const ProgramResults& programs, size_t copies) {
  std::vector<Proved> all;
  runShared(
      rules.size(), copies, [&](size_t i) { return textOf(proveOne(rules[i], options, rewrites, programs)); },
      [&](const std::string& text) {
        all.push_back(provedOf(text));
        if (options.onProof) options.onProof(all.back().proof);
      });
  nameMeasures(rules, all);
  std::vector<RuleProof> proofs;
  for (Proved& p : all) proofs.push_back(std::move(p.proof));
  return proofs;
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
  return proveChosen(some, options, none, {}, 1);
}

std::vector<RuleProof> proveTables(const ProveOptions& options) {
  needZ3();
  ObserverScope unseen(nullptr);
  const auto copies = static_cast<size_t>(cpuCount());
  Rewrites rewrites(6);
  if (!options.rule.empty() || !options.programs) {
    Rules some = chosen(rulesOfTables(), options);
    std::vector<RuleProof> proofs = proveChosen(some, options, rewrites, {}, copies);
    if (!options.programs || (!some.empty() && std::all_of(proofs.begin(), proofs.end(), stands))) {
      if (some.empty()) noSuchRule(options);
      return proofs;
    }
  }
  ProgramResults programs = runPrograms(rewrites);
  Rules rules = chosen(rulesOfTables(), options);
  if (rules.empty()) noSuchRule(options);
  std::vector<RuleProof> proofs = proveChosen(rules, options, rewrites, programs, copies);
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
