// Finds steps across passes: by number, by rule, by a condition. Steps are in the order in which the engine
// made them.
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

/// A condition as SQL over table step; empty: every step. Error(Value) names the word that it does not
/// understand.
///   rule:add-*  op:ADD  into:CONST  node:456  pass:devectorize  kernel:r_*  changed:no  error:yes  took>1000
///   where took_ns > 1000 AND ...
std::string stepCondition(const std::string& text);
/// The next step after (direction 1) or before (-1) `from` that meets the condition; `from` itself does not
/// count. 0: none.
StepId nextStep(Trace& trace, StepId from, const std::string& condition, int direction);
StepId nextByRule(Trace& trace, RuleId rule, StepId after);
/// The number of such steps in the trace, and their numbers within a pass (counted from 1).
int64_t countSteps(Trace& trace, const std::string& condition);
std::vector<int64_t> stepsOfPass(Trace& trace, PassId pass, const std::string& condition);

/// Whether every step of the pass changes a tag and nothing else, so that there is nothing to look at. False
/// for long passes.
bool onlyRetags(Trace& trace, const PassInfo& pass);

/// The pass that began last; 0: no pass.
PassId lastPass(Trace& trace);

/// A step that a later step of its pass takes back.
struct TakenBack {
  StepId step = 0, by = 0;
  RuleId rule = 0, byRule = 0;
};
std::vector<TakenBack> stepsTakenBack(Trace& trace, int64_t most);

} // namespace uopscope
