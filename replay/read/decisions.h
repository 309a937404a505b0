// Reads why rewrites were made (table decision of the trace): the decision of the compiler at a step, its
// price, and the alternatives. Most steps have no decision, since their rule explains them. Traces older than
// schema 4 have none.
//
//   for (const auto& [step, made] : decisionsOf(trace, pass.id))
//     print(step, made.front().reason);     // 1005, "UPCAST axis 0 by 4: 0.09 cycles a lane and step, ..."
#pragma once
#include "replay/read/trace.h"

#include <map>

namespace uopscope {

/// Decisions by the number of their step in the whole trace; a rewrite may rest on several.
using Decisions = std::map<StepId, std::vector<Decision>>;

/// Decisions of one pass. Damaged alternatives are left out; text is made printable.
Decisions decisionsOf(Trace& trace, PassId pass);
/// One decision of a scope, with its pass and step.
struct DecidedStep {
  PassId pass = 0;
  int64_t k = 0; ///< number of the step in its pass, from 1
  Decision made;
};
/// Decisions of all passes of a scope, in order of passes and steps.
std::vector<DecidedStep> decidedSteps(Trace& trace, ScopeId scope);
std::vector<Decision> decisionsAt(Trace& trace, StepId step);
/// "0.087 cycles a lane and step"; empty for a decision without a price.
std::string priceText(const std::optional<double>& price, const std::string& unit);
/// "0.22 cycles a lane and step; else 20 of r1 (0.28), 25 of r1 with 2 of r0 (0.35)"; empty without a price.
std::string priceText(const Decision& decision);
/// How much more an alternative costs than the chosen one: "99 % more", "2.1 times". Empty where no
/// comparison is possible (a price of zero, no price).
std::string dearer(const Decision& decision, const Decision::Alternative& other);

} // namespace uopscope
