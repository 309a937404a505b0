// A rewrite that changes a value, made small, as a Python script that shows it: both sides become kernels
// that the reference interpreter runs on the same data.
//
//   Difference d = shrinkDifference(checker, before, after);   // shared parts became inputs
//   std::string py = differenceScript(d.before, d.after, "mul-zero in \"devectorize\" of run.uoptrace");
#pragma once
#include "replay/compare/value_check.h"

namespace uopscope {

struct Difference {
  UOp before, after;
  ValueCheck check;
};
/// Replaces what both sides share by inputs as long as they still differ; the nodes are in the checker's
/// pool.
Difference shrinkDifference(RewriteChecker& checker, UOp before, UOp after);
/// Error(Unsupported) for graphs that are no part of a kernel.
std::string differenceScript(UOp before, UOp after, const std::string& from);
/// Of a step of a trace. Error(Value) where it does not differ.
std::string stepScript(Trace& trace, StepId step);

} // namespace uopscope
