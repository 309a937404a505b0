// The difference of two expressions as trees of brackets. It keeps or marks whole operands, so the rewrite of
// an operand does not become a patchwork of the signs that both texts contain.
//
//   DiffWords d = expressionDiff("((L0*4)+u1)", "((L0*4)+0)");      // only u1 and 0 are marked
//   DiffWords e = expressionDiff("R1", "((R1*25)+r2)");             // R1 is kept, the text around it is
//   marked
#pragma once
#include "replay/read/text_diff.h"

namespace uopscope {

/// Takes any two texts. Texts without brackets are compared word by word, unbalanced texts as far as they
/// parse.
DiffWords expressionDiff(std::string_view before, std::string_view after);

} // namespace uopscope
