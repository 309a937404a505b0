// Every rule of the engine, those of transforms with the others: what "why did this rule not fire" can be asked of.
//
//   for (const RuleDef* def : knownRulesOfAll()) print(def->name);
#pragma once
#include "engine/tensor/gradient.h"
#include "engine/tensor/known_rules.h"
#include "engine/transform/batch.h"
#include "engine/transform/tangent.h"

namespace uopscope {

inline std::vector<const RuleDef*> knownRulesOfAll() {
  // A table is listed once it was made.
  batchRules();
  tangentRules();
  gradientRules();
  return knownRules();
}

} // namespace uopscope
