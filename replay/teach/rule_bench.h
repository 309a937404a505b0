// Rules of a user tried on a trace: the nodes that they match after every pass, what they make of them, whether both
// sides have the same value, and the kernels compiled with them.
//
//   RuleBench b = benchRules(trace, matcher, "initial symbolic", {});
//   for (const RuleTrial& r : b.rules) print(r.rule, r.nodes, r.differ.size());
//   for (const WhatIf& k : b.kernels) print(whatIfText(k, 40));
//
// Rules run in this process: a caller that must survive them runs it in a child (kernel_run.h: isolated). A rule that
// throws is tried on the other nodes all the same; its first message is kept.
#pragma once
#include "replay/teach/variants.h"

#include <functional>

namespace uopscope {

/// One rule on the graphs of a trace.
struct RuleTrial {
  /// A rule after one pass of one kernel or schedule.
  struct Place {
    ScopeId scope = 0;
    PassId pass = 0;
    std::string scopeName, passName;
    bool joins = false;          ///< the rules follow this pass; elsewhere they would match, and do not run
    size_t nodes = 0;            ///< of the graph at its end that the rule rewrites
    NodeId first = kNoNode;      ///< the first of them
    std::string before, after;   ///< its expression, and what the rule makes of it
    nlohmann::json picture = {}; ///< of both, where the options draw
  };
  struct Fault {
    ScopeId scope = 0;
    PassId pass = 0;
    NodeId node = kNoNode;
    std::string expression, result, where, before, after; ///< the assignment and both values
  };
  std::string rule, file;
  int line = 0;
  std::vector<Place> places;
  size_t nodes = 0;             ///< where it joins
  size_t same = 0, unknown = 0; ///< of the different nodes that were checked
  std::vector<Fault> differ;
  std::string why;             ///< of the first that could not be checked
  std::string problem;         ///< the first exception of the rule
  nlohmann::json pattern = {}; ///< its picture, where the options draw
};

struct RuleBench {
  std::string after;
  std::vector<RuleTrial> rules;
  std::vector<WhatIf> kernels; ///< whose code changes or that do not compile
  size_t compiled = 0;         ///< kernels that were compiled with the rules
};

struct RuleBenchOptions {
  ScopeId scope = 0; ///< 0: every kernel and schedule
  WhatIfOptions kernels = {.repeats = 0};
  size_t checks = 400; ///< most nodes of a rule that are checked
  /// Draw the first rewrite at a place, and a pattern, for whoever shows them (viz/pictures/rule_picture.h).
  std::function<nlohmann::json(UOp before, UOp after)> draw = {};
  std::function<nlohmann::json(const Rule& rule)> drawPattern = {};
};
RuleBench benchRules(Trace& trace, const std::shared_ptr<const PatternMatcher>& rules,
                     const std::string& after, const RuleBenchOptions& options);

std::string ruleBenchText(const RuleBench& bench);
nlohmann::ordered_json ruleBenchJson(const RuleBench& bench);
/// Whether a rule failed or changes a value, or a kernel does not compile or has other results.
bool isBad(const RuleBench& bench);

} // namespace uopscope
