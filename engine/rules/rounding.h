// The one list of rules that change the bits of a float result, each with its reason.
//
//   RULE("fdiv-self", pat::op(Op::FDIV, x, x), 1, kMayRound)     // nan / nan is nan, 0 / 0 too
//   STRICT_FLOAT=1 uopscope run model.py                         // none of them applies to floats
//
// `uopscope prove` computes both sides of every rule on floats. It refutes a rule that is not exact and not
// in this list. docs/design/rules.md prints the list.
#pragma once
#include "engine/base/context_var.h"
#include "engine/rewrite/rule.h"

#include <span>
#include <string_view>

namespace uopscope {

struct RoundingRule {
  std::string_view name;
  std::string_view reason;
  bool optional = true; ///< STRICT_FLOAT=1 switches it off; false: the target has no exact form
};
std::span<const RoundingRule> roundingRules();
/// The entry of a rule, or null.
const RoundingRule* roundingRule(std::string_view name);

/// Whether a rule of the list may apply to this type under the present settings.
bool mayRound(DType d);
/// The same condition as a guard, applied to the root of the match.
inline constexpr Guard kMayRound = guard::mayRound();

} // namespace uopscope
