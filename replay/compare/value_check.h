// Is a rewrite right: before and after are evaluated on corner values and random ones within the bounds of
// their variables, and the first assignment on which they differ is told. What cannot be computed (loads,
// reductions, stores) is taken as an unknown function of what it reads, the same on both sides; where a
// rewrite changes those themselves, nothing is claimed.
//
//   ValueCheck c = checkRewrite(trace.nodes().reader(), step.before, step.after);
//   if (c.verdict == ValueCheck::Verdict::Differs) print(c.where, c.before, c.after);
#pragma once
#include "replay/read/trace.h"

#include <functional>

namespace uopscope {

struct ValueCheck {
  enum class Verdict : uint8_t { Same, Differs, Unknown } verdict = Verdict::Unknown;
  std::string why;                  ///< Unknown: what stands in the way
  std::string where, before, after; ///< Differs: the assignment and both values
  int samples = 0;                  ///< evaluated
};
ValueCheck checkRewrite(const NodeReader& read, NodeId before, NodeId after, int samples = 48);

/// Every step of a trace in order.
struct ValueSurvey {
  struct Fault {
    StepId step = 0;
    RuleId rule = 0;
    ValueCheck check;
  };
  int64_t checked = 0, same = 0, unknown = 0, unchanged = 0;
  std::vector<Fault> faults; ///< first ones first
  bool complete = false;     ///< false: stopped
};
/// `progress` gets shares 0 to 1; returning false stops.
ValueSurvey checkTrace(Trace& trace, size_t mostFaults, const std::function<bool(double)>& progress = {});

} // namespace uopscope
