// Why steps of a scope were made, where the compiler had a choice: its words, the price of what it chose and
// the best of what it did not.
//
//   for (const DecisionInfo& d : decisionsOf(trace, kernel)) print(d.pass, d.k, d.reason);
//
// Traces from before version 4 of the schema have none.
#pragma once
#include "replay/read/trace.h"

namespace uopscope {

struct DecisionInfo {
  StepId step = 0; ///< in the whole trace
  PassId pass = 0;
  int64_t k = 0; ///< number of the step in its pass, from 1
  RuleId rule = 0;
  std::string reason, unit; ///< unit: of the prices
  std::optional<double> price;
  struct Other {
    std::string what;
    double price = 0;
  };
  std::vector<Other> others; ///< cheapest first
};

/// In the order in which they were made.
std::vector<DecisionInfo> decisionsOf(Trace& trace, ScopeId scope);

/// "0.22 cycles a lane and step; else 20 of r1 (0.28), 25 of r1 with 2 of r0 (0.35)"; empty without a price.
std::string priceText(const DecisionInfo& decision);

} // namespace uopscope
