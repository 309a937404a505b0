// Proofs of rules. Every rule of the engine's tables, and every rule of a script, gets a status:
//
//   proved            Z3 found no values on which both sides differ, for the types and graphs of `scope`
//   exhaustive        both sides were computed on all values: of half precision, or of pairs of 8-bit floats
//   checked           both sides, or programs in which the rule applied, were computed on chosen values
//   changes-rounding  a float result may differ; `reason` says why that is allowed, STRICT_FLOAT=1 switches
//                     the rule off
//   assumed           there is no proof; `reason` takes its place
//   refuted           `counterexample` is Python that shows values on which the sides differ: a bug
//
//   for (const RuleProof& p : proveTables({})) fmt::print("{} {}\n", p.rule, statusName(p.status));
//
// docs/design/rules.md is the report on proveTables().
#pragma once
#include "engine/rewrite/matcher.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace uopscope::prove {

enum class ProofStatus : uint8_t { Proved, Exhaustive, Checked, ChangesRounding, Assumed, Refuted };
std::string_view statusName(ProofStatus s);

struct RuleProof {
  std::string rule, file;
  int line = 0;
  ProofStatus status = ProofStatus::Assumed;
  bool isInteger = false;      ///< the rule rewrites expressions of integers or booleans
  bool integersProved = false; ///< proved for integers and booleans, whatever the result for floats
  std::string scope;           ///< the graphs and values that the status covers
  std::string reason;          ///< for assumed and changes-rounding
  std::string counterexample;  ///< for refuted
  std::string measure;         ///< why a set with it ends; "none" if unknown, empty if in no set
  int instances = 0;           ///< number of graphs compared
  int programs = 0;            ///< number of programs with right results in which it applied
};

struct ProveOptions {
  std::string rule;             ///< only rules of this name; "*" stands for any letters
  std::string table;            ///< only rules of files whose path contains this
  unsigned milliseconds = 1500; ///< for one question to Z3
  int graphs = 40;              ///< instances of a rule with a function
  bool programs = true;         ///< run programs for rules of memory, loops, shapes and gradients
  Pool* pool = nullptr;         ///< pool of the graphs; null: a new one for each rule. Python needs its own
  std::function<void(const RuleProof&)> onProof = {}; ///< called with each result when it is known
};

using Rules = std::vector<std::shared_ptr<const Rule>>;

/// Proves the rules of a script, or those of all tables of the engine, in order of file and line. A rule
/// selected by name runs programs only if there is no proof without them. Throws Error(Unsupported) if the
/// program was built without Z3, Error(Key) if no rule has the name.
std::vector<RuleProof> proveRules(const Rules& rules, const ProveOptions& options);
std::vector<RuleProof> proveTables(const ProveOptions& options);

} // namespace uopscope::prove
