// Changes that code decides and no pattern can find: an Opt splits one range, a panel replaces a read. They
// are applied as a pass like any other, so an observer sees each replaced node as a step of a named rule,
// with the reason.
//
//   constexpr RuleDef kOptRules[] = {RULE("split-range", any(Op::RANGE), entry())};
//   static const PatternMatcher splitRange({kOptRules});
//   because([&] { return fmt::format("UPCAST axis 0 by 4: {}", why); });
//   ast = replaceNodes(ast, {{range, rest * 4 + fresh}}, splitRange, {.name = "UPCAST"});
//
// Invariant: a node with a replacement is replaced everywhere. Replacements are looked up again: one that is
// itself a key is replaced in turn.
#pragma once
#include "engine/rewrite/driver.h"

namespace uopscope {

/// The replacement of the root, for which pat::entry() stands. Declines if it has none.
UOp entryOf(Match& m);

/// The graph with every node of `replacements` replaced, by rules whose result is pat::entry(). `name` is the
/// name of the pass.
UOp replaceNodes(UOp root, const UOpMap<UOp>& replacements, const PatternMatcher& rules,
                 std::string_view name, const char* file = __builtin_FILE(), int line = __builtin_LINE());

} // namespace uopscope
