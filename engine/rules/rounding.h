// Rules that give a float other bits than its expression says: the one list of them, each with the reason.
//
//   RULE("fdiv-self", pat::op(Op::FDIV, x, x), 1, kMayRound)     // nan / nan is nan, 0 / 0 too
//   STRICT_FLOAT=1 uopscope run model.py                         // none of them applies to floats
//
// `uopscope prove` computes both sides of every rule on floats: one that is not exact and stands in no list
// is refuted. docs/design/rules.md prints the list.
#pragma once
#include "engine/base/context_var.h"
#include "engine/rewrite/rule.h"

#include <span>
#include <string_view>

namespace uopscope {

struct RoundingRule {
  std::string_view name;
  std::string_view reason;
  bool optional = true; ///< STRICT_FLOAT=1 switches it off; false: the target lacks what would be exact
};
std::span<const RoundingRule> roundingRules();
/// The entry of that rule, or null.
const RoundingRule* roundingRule(std::string_view name);

/// Whether a rule of the list may apply to this type now.
bool mayRound(DType d);
/// The same as the guard of a rule, asked of the node it is tried on.
inline constexpr Guard kMayRound = guard::mayRound();

} // namespace uopscope
