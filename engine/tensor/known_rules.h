// Every rule of the engine, for code that asks about rules. A matcher is made when its pass first runs, so a
// small computation is scheduled and lowered once, for a device that executes nothing.
//
//   for (const RuleDef* def : knownRules()) print(def->name);
#pragma once
#include "engine/rewrite/rule.h"

#include <vector>

namespace uopscope {

/// All rules, sorted by file and line. The first call takes some milliseconds.
std::vector<const RuleDef*> knownRules();

} // namespace uopscope
