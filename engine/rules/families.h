// The families of rules, one per file; rules.cpp puts them together. Order within a family matters, order
// between families is set there.
#pragma once
#include "engine/rewrite/rule.h"

#include <span>

namespace uopscope::rules {

using Family = std::span<const RuleDef>;

Family invalidRules();     ///< Invalid and gated indices pass through arithmetic
Family identityRules();    ///< x+0, x*1, x-x ...
Family foldingRules();     ///< constants
Family booleanRules();     ///< and, or, not
Family castRules();        ///< casts that do nothing or can be one
Family narrowingRules();   ///< casts and bounds: 64-bit arithmetic in 32 bits
Family powerRules();       ///< powers by constants
Family exactFloatRules();  ///< floats, results bit for bit
Family randomRules();      ///< halves of Threefry's 64 bits
Family simpleWhereRules(); ///< WHERE of constants and equal branches
Family whereRules();       ///< WHERE and arithmetic
Family boundsRules();      ///< decided by bounds alone
Family sumRules();         ///< sums and products of integers in normal form
Family divmodRules();      ///< division and remainder of index
Family compareRules();     ///< comparisons of index
Family minmaxRules();
Family effectRules();    ///< AFTER and the effects it orders
Family vectorRules();    ///< GEP, VECTORIZE, CAT
Family broadcastRules(); ///< arithmetic of equal lanes
Family validRules();     ///< gates
Family dropClauseRules();
Family moveWhereRules();
Family memoryRules(); ///< LOAD, STORE, SINK
Family reduceRules();
Family kernelRules(); ///< for kernels alone
Family lowerIndexRules();

} // namespace uopscope::rules
