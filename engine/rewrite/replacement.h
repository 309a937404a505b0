// Changes that code decides and no pattern finds: an Opt splits one range, a panel takes the place of a read.
// They are applied as a pass like any other, so an observer sees each replaced node as a step of a named
// rule, with the reason for it.
//
//   constexpr RuleDef kOptRules[] = {RULE("split-range", any(Op::RANGE), entry())};
//   static const PatternMatcher splitRange({kOptRules});
//   because([&] { return fmt::format("UPCAST axis 0 by 4: {}", why); });
//   ast = replaceNodes(ast, {{range, rest * 4 + fresh}}, splitRange, {.name = "UPCAST"});
//
// Invariant: a node with a replacement is replaced wherever it stands; a replacement is looked up again, so
// one that is itself a key is replaced in turn.
#pragma once
#include "engine/rewrite/driver.h"

namespace uopscope {

/// The replacement of the node that the rule is tried on: what pat::entry() stands for. Declines where there is
/// none.
UOp entryOf(Match& m);

/// The graph with every node of `replacements` replaced, by rules whose result is pat::entry(). The name is
/// that of the pass.
UOp replaceNodes(UOp root, const UOpMap<UOp>& replacements, const PatternMatcher& rules,
                 std::string_view name, const char* file = __builtin_FILE(), int line = __builtin_LINE());

} // namespace uopscope
