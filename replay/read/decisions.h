// Why rewrites were made: what the compiler decided at a step, its price, and what else there was (table
// decision of the trace). Most steps have none: their rule says it all. Traces from before schema 4 have
// none.
//
//   for (const auto& [step, made] : decisionsOf(trace, pass.id))
//     print(step, made.front().reason);     // 1005, "UPCAST axis 0 by 4: 0.09 cycles a lane and step, ..."
#pragma once
#include "replay/read/trace.h"

#include <map>

namespace uopscope {

/// By step (its number in the whole trace); a rewrite may rest on several.
using Decisions = std::map<StepId, std::vector<Decision>>;

/// Those of one pass. What a damaged file holds of alternatives is left out; text is made printable.
Decisions decisionsOf(Trace& trace, PassId pass);
/// One decision of a scope, with its place.
struct DecidedStep {
  PassId pass = 0;
  int64_t k = 0; ///< number of the step in its pass, from 1
  Decision made;
};
/// Those of all passes of a scope, in order of passes and steps.
std::vector<DecidedStep> decidedSteps(Trace& trace, ScopeId scope);
std::vector<Decision> decisionsAt(Trace& trace, StepId step);
/// "0.087 cycles a lane and step"; empty: not a matter of price.
std::string priceText(const std::optional<double>& price, const std::string& unit);
/// "0.22 cycles a lane and step; else 20 of r1 (0.28), 25 of r1 with 2 of r0 (0.35)"; empty without a price.
std::string priceText(const Decision& decision);
/// How much more than the chosen one an alternative costs: "99 % more", "2.1 times"; empty where that says
/// nothing (a price of zero, no price).
std::string dearer(const Decision& decision, const Decision::Alternative& other);

} // namespace uopscope
