// The order of stores that stand side by side, by liveness: stores that share values come one after another, so that a shared
// value is not kept while the rest of a tile is computed.
//
//   gelu and its mask, for each register of a tile of sixteen:
//     GROUP(out 0, out 1, ... out 15, mask 0, ... mask 15)      every mask waits for all outs: 109 registers in use
//     GROUP(out 0, mask 0, out 1, mask 1, ...)                  24
//
// The order of a GROUP's sources is the order of its stores in the linear program (loop_tree.h).
//
// Invariant: a new order is taken only if live_ranges.h counts fewer registers with it. Only stores that cannot meet are moved:
// to different arrays, or to different places of one.
#pragma once
#include "engine/codegen/target.h"

#include <span>
#include <string_view>

namespace uopscope {

std::span<const RuleDef> effectOrderRules();

/// Runs the rules as a pass of that name where another order is worth it; else no pass is begun. The graph is ready to be
/// linearised.
UOp orderEffects(UOp sink, const Target& target, const PatternMatcher& rules, std::string_view pass);

} // namespace uopscope
