// Every rule of the engine, those of transforms with the others: what "why did this rule not fire" can be asked of. A program that runs no
// transform by itself, as the window, has their tables only if it names them.
//
//   for (const RuleDef* def : knownRulesOfAll()) print(def->name);
#pragma once
#include "engine/transform/batch.h"
#include "engine/transform/tangent.h"

#include <vector>

namespace uopscope {

inline std::vector<const RuleDef*> knownRulesOfAll() {
  batchRules();
  tangentRules();
  return knownRules();
}

} // namespace uopscope
