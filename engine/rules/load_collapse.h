// Sums that collapse: a sum over a range needs no loop if its terms are zero except for a few steps. Because
// of these rules the scheduler makes no buffer for arange, and the pass "load collapse" reads a tensor
// indexed by a tensor directly.
//
//   sum over r of (idx == r ? t[r] : 0)         ->  0 <= idx < n ? t[idx] : 0
//   sum over r of (r < k ? v : 0), v without r  ->  clamp(k, 0, n) * v
#pragma once
#include "engine/rewrite/matcher.h"

#include <functional>
#include <optional>
#include <vector>

namespace uopscope {

/// A term of a sum, written as  all conditions ? value : 0.
struct SumTerm {
  std::vector<UOp> conditions;
  UOp value;
};
/// A WHERE whose other value `isNeutral` accepts: the value and its conditions, those of WHEREs inside included.
std::optional<SumTerm> asChosenTerm(UOp u, const std::function<bool(UOp)>& isNeutral);
/// Looks through casts of conditions and products with conditions; none if the term has no condition.
std::optional<SumTerm> asSumTerm(UOp u);

std::span<const RuleDef> loadCollapseRules();

} // namespace uopscope
