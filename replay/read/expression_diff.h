// The difference of two expressions as trees of brackets: what hangs together is kept or marked together, so
// a rewrite of one operand is not a patchwork of signs that happen to be in both.
//
//   DiffWords d = expressionDiff("((L0*4)+u1)", "((L0*4)+0)");      // only u1 and 0 are marked
//   DiffWords e = expressionDiff("R1", "((R1*25)+r2)");             // R1 is kept, what was put around it is
//   marked
#pragma once
#include "replay/read/text_diff.h"

namespace uopscope {

/// Any two texts: those without brackets are compared word by word, unbalanced ones as far as they go.
DiffWords expressionDiff(std::string_view before, std::string_view after);

} // namespace uopscope
