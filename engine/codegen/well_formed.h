// The pass "early movement ops": movement operations inside a kernel become arithmetic on indices.
//
//   INDEX(RESHAPE(buf, (4, 8)), i, j)  ->  INDEX(buf, i*8 + j)
//
// Kernels written by hand index buffers by several axes this way (UOp.placeholder reshapes its buffer).
// Further rules make a kernel well formed for all later passes: bound variables lose their values, loops
// without a step are dropped (a reduction over such loops gives its identity), and a range that several
// stores close is closed once.
#pragma once
#include "engine/rewrite/matcher.h"

namespace uopscope {

std::span<const RuleDef> wellFormedRules();

} // namespace uopscope
