// Checks every rewrite, pass and kernel of a trace. Each is a pair of graphs for RewriteChecker. The survey
// walks over the trace, keeps the memory of each pass between its rewrites, and counts the rewrites that
// cannot be evaluated, by rule and reason.
//
//   ValueSurvey s = checkTrace(trace, {.mostFaults = 20});
//   for (const auto& f : s.faults) print(f.step, f.check.where, f.check.before, f.check.after);
#pragma once
#include "replay/compare/rewrite_check.h"
#include "replay/read/trace.h"

#include <functional>

namespace uopscope {

struct ValueSurvey {
  struct Fault {
    StepId step = 0; ///< 0 for a pass or kernel that differs as a whole
    RuleId rule = 0;
    PassId pass = 0;
    ScopeId kernel =
        0; ///< the kernel that differs as a whole, or 0; `pass` is then the first after which it does
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
  std::vector<Fault> faults; ///< in order of steps
  std::vector<Blind> blind;  ///< most frequent first
  Whole passes, kernels;     ///< filled with SurveyOptions::whole
  bool complete = false;     ///< false: stopped
};

struct SurveyOptions {
  size_t mostFaults = 20;
  bool whole = false; ///< check passes and kernels too: the first graph of each against the last
  std::function<bool(double)> progress = {}; ///< gets the done share, 0 to 1; returning false stops
};
ValueSurvey checkTrace(Trace& trace, const SurveyOptions& options);

} // namespace uopscope
