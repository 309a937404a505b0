// Every rule of the engine, for those who ask about rules rather than apply them. Matchers are made when a
// pass first runs, so a small computation is scheduled and lowered once, for a device that executes nothing.
//
//   for (const RuleDef* def : knownRules()) print(def->name);
#pragma once
#include "engine/rewrite/rule.h"

#include <vector>

namespace uopscope {

/// In order of file and line. Costs some milliseconds the first time.
std::vector<const RuleDef*> knownRules();

} // namespace uopscope
