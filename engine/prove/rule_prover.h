// The proof of one rule: instances of its pattern, the results of the rule, and the comparison of both.
//
//   RuleProver prover(rule, z3, options);
//   prover.proveExpression(), prover.proveGraphs();
//   RuleProof p = prover.verdict(false);
#pragma once
#include "engine/prove/instances.h"
#include "engine/prove/prove.h"
#include "engine/prove/solver.h"
#include "engine/prove/termination.h"
#include "engine/prove/values.h"

namespace uopscope::prove {

class RuleProver {
public:
  RuleProver(std::shared_ptr<const Rule> rule, Solver& z3, const ProveOptions& options);

  /// Proves the rule's expression for all values of its variables and constants.
  void proveExpression();
  /// Compares the results of the rule on generated graphs.
  void proveGraphs();
  /// Compares the two sides of a rewrite recorded in a compilation.
  void proveRewrite(UOp before, UOp after);
  /// The status reached so far. `isAllowedToRound`: the rule is in the list of rounding.h.
  RuleProof verdict(bool isAllowedToRound) const;
  const Measures& measures() const { return measures_; }
  bool hasInstances() const { return compared_ > 0; }

private:
  enum class Method : uint8_t { None, Solver, Values, Samples };
  void compare(UOp before, UOp after);
  bool compareFloats(UOp before, UOp after);
  void settle(UOp before, UOp after, const Answer& answer);
  void refute(UOp before, UOp after, const Evaluator& both, const Difference& d);
  UOp apply(UOp before, uint64_t seed);

  std::shared_ptr<const Rule> rule_;
  PatternMatcher matcher_;
  Solver& z3_;
  const ProveOptions& options_;
  Measures measures_;
  std::set<std::string> universal_, types_, notDecided_;
  int compared_ = 0, solved_ = 0, enumerated_ = 0, sampled_ = 0, undecided_ = 0;
  int floatsEnumerated_ = 0, floatsSampled_ = 0, floatsSolved_ = 0;
  int notCompared_ = 0; ///< rewrites of programs that were not compared
  bool isInteger_ = false, expressionHolds_ = false, ofProgram_ = false;
  FloatGap gap_ = FloatGap::None;
  std::string counterexample_, floatExample_;
};

} // namespace uopscope::prove
