// Is a rule right? Every rule of the engine's tables, and every rule of a script, gets a status:
//
//   proved            Z3 found no values on which both sides differ, for the types and graphs of `scope`
//   exhaustive        both sides were computed on all values: of half precision, or of pairs of 8-bit floats
//   checked           both sides, or programs in which the rule applied, were computed on chosen values
//   changes-rounding  a float may come out otherwise; `reason` says why that is allowed, STRICT_FLOAT=1
//                     switches the rule off
//   assumed           `reason` stands in for a proof
//   refuted           `counterexample` is Python that shows values on which the sides differ: a bug
//
//   for (const RuleProof& p : proveTables({})) fmt::print("{} {}\n", p.rule, statusName(p.status));
//
// docs/design/rules.md is the text of proveTables().
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
  bool isInteger = false;      ///< it rewrites expressions of integers or booleans
  bool integersProved = false; ///< for integers and booleans by itself, whatever happens to floats
  std::string scope;           ///< for which graphs and values the status holds
  std::string reason;          ///< assumed, changes-rounding
  std::string counterexample;  ///< refuted
  std::string measure;         ///< why a set with it ends; "none", or empty for a rule of no such set
  int instances = 0;           ///< graphs that were compared
  int programs = 0;            ///< programs with right results in which it applied
};

struct ProveOptions {
  std::string rule;             ///< only those of this name; "*" stands for any letters
  std::string table;            ///< only those of files whose path has this in it
  unsigned milliseconds = 1500; ///< for one question to Z3
  int graphs = 40;              ///< instances of a rule that is a function
  bool programs = true;         ///< run programs for rules of memory, loops, shapes and gradients
  Pool* pool = nullptr; ///< where graphs are made; null: one of its own for each rule. Python wants its own
  std::function<void(const RuleProof&)> onProof = {}; ///< told of each as it is there
};

using Rules = std::vector<std::shared_ptr<const Rule>>;

/// Rules of a script, or those of every table of the engine, in order of file and line. A rule that is named
/// runs no programs where it is proved without them. Throws Error(Unsupported) where the program was built
/// without Z3, Error(Key) where no rule has the name.
std::vector<RuleProof> proveRules(const Rules& rules, const ProveOptions& options);
std::vector<RuleProof> proveTables(const ProveOptions& options);

} // namespace uopscope::prove
