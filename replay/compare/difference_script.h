// Shrinks a rewrite that changes a value and writes a Python script that shows the difference: both sides
// become kernels, and the reference interpreter runs them on the same data.
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
/// Replaces parts that both sides share by inputs, as long as the sides still differ. The nodes are in the
/// checker's pool.
Difference shrinkDifference(RewriteChecker& checker, UOp before, UOp after);
/// Throws Error(Unsupported) for graphs that are no part of a kernel.
std::string differenceScript(UOp before, UOp after, const std::string& from);
/// The script for a step of a trace. Throws Error(Value) where the step does not differ.
std::string stepScript(Trace& trace, StepId step);

} // namespace uopscope
