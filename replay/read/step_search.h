// Steps found across passes: by number, by rule, by a condition; the order is that in which the engine
// worked.
//
//   if (auto at = placeOfStep(trace, 1005)) show(at->pass, at->step.k);
//   StepId next = nextStep(trace, here, stepCondition("rule:add-* op:ADD"), 1);        // 0: there is none
#pragma once
#include "replay/read/trace.h"

#include <optional>
#include <string>

namespace uopscope {

struct StepPlace {
  PassId pass = 0;
  StepInfo step;
};
std::optional<StepPlace> placeOfStep(Trace& trace, StepId id);

/// A condition as SQL over table step; empty: every step. Error(Value) names the word that cannot be
/// understood.
///   rule:add-*  op:ADD  into:CONST  node:456  pass:devectorize  kernel:r_*  changed:no  error:yes  took>1000
///   where took_ns > 1000 AND ...
std::string stepCondition(const std::string& text);
/// The next step after (direction 1) or before (-1) `from`, not itself, for which it holds; 0: none.
StepId nextStep(Trace& trace, StepId from, const std::string& condition, int direction);
StepId nextByRule(Trace& trace, RuleId rule, StepId after);
/// How many steps of the trace, and which of a pass (counted from 1).
int64_t countSteps(Trace& trace, const std::string& condition);
std::vector<int64_t> stepsOfPass(Trace& trace, PassId pass, const std::string& condition);

/// Every step of the pass changes a tag and nothing else: bookkeeping, nothing to look at. False for long
/// passes.
bool onlyRetags(Trace& trace, const PassInfo& pass);

/// The pass that began last; 0: none.
PassId lastPass(Trace& trace);

/// A step that a later one of its pass takes back.
struct TakenBack {
  StepId step = 0, by = 0;
  RuleId rule = 0, byRule = 0;
};
std::vector<TakenBack> stepsTakenBack(Trace& trace, int64_t most);

} // namespace uopscope
