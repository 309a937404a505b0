// Is every rewrite of a trace right, every pass, every kernel? Each is a pair of graphs for RewriteChecker;
// this walks the trace, knows what a pass remembers between its rewrites, and counts what could not be
// evaluated by rule and reason.
//
//   ValueSurvey s = checkTrace(trace, {.mostFaults = 20});
//   for (const auto& f : s.faults) print(f.step, f.check.where, f.check.before, f.check.after);
#pragma once
#include "replay/compare/rewrite_check.h"
#include "replay/read/trace.h"

#include <functional>

namespace uopscope {

/// One rewrite alone, without what its pass knows.
ValueCheck checkRewrite(const NodeReader& read, NodeId before, NodeId after, int samples = 48);
/// A step of a trace, with what its pass knew by then.
ValueCheck checkStep(Trace& trace, StepId step, int samples = 48);

struct ValueSurvey {
  struct Fault {
    StepId step = 0; ///< of a pass or kernel that differs as a whole: 0
    RuleId rule = 0;
    PassId pass = 0;
    ScopeId kernel = 0; ///< likewise
    ValueCheck check;
  };
  /// Rewrites of one rule in passes of one name that could not be evaluated, for one reason.
  struct Blind {
    std::string rule, pass, why;
    int64_t count = 0;
    StepId first = 0;
  };
  struct Whole {
    int64_t checked = 0, same = 0, unknown = 0;
  };
  int64_t checked = 0, same = 0, unknown = 0, unchanged = 0, differ = 0;
  std::vector<Fault> faults; ///< first ones first
  std::vector<Blind> blind;  ///< most first
  Whole passes, kernels;     ///< with SurveyOptions::whole
  bool complete = false;     ///< false: stopped
};

struct SurveyOptions {
  size_t mostFaults = 20;
  bool whole = false; ///< passes and kernels too: the graph each began with against the one it ended with
  std::function<bool(double)> progress = {}; ///< gets shares 0 to 1; returning false stops
};
ValueSurvey checkTrace(Trace& trace, const SurveyOptions& options);

} // namespace uopscope
