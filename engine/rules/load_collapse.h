// Sums that collapse: sums over a range whose terms are zero but for a few steps need no loop. The scheduler
// has no buffer for arange thanks to them; "load collapse" in code generation reads a tensor indexed by a
// tensor at once.
//
//   sum over r of (idx == r ? t[r] : 0)         ->  0 <= idx < n ? t[idx] : 0
//   sum over r of (r < k ? v : 0), v without r  ->  clamp(k, 0, n) * v
#pragma once
#include "engine/rewrite/matcher.h"

#include <optional>
#include <vector>

namespace uopscope {

/// A term of a sum as  all conditions ? value : 0.
struct SumTerm {
  std::vector<UOp> conditions;
  UOp value;
};
/// Through casts of conditions and products with them; none where the term has no condition.
std::optional<SumTerm> asSumTerm(UOp u);

std::span<const RuleDef> loadCollapseRules();

} // namespace uopscope
