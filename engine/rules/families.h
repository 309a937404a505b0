// The families of rules, one per file; rules.cpp joins them into rule sets. The order of rules within a
// family matters. rules.cpp sets the order of families.
//
//   PatternMatcher m({identityRules(), foldingRules()});
#pragma once
#include "engine/rewrite/rule.h"

#include <span>

namespace uopscope::rules {

using Family = std::span<const RuleDef>;

Family invalidRules();     ///< Invalid and gated indices pass through arithmetic
Family identityRules();    ///< x+0, x*1, x-x ...
Family foldingRules();     ///< arithmetic on constants
Family booleanRules();     ///< and, or, not
Family castRules();        ///< casts that have no effect or can be merged
Family narrowingRules();   ///< casts and bounds: 64-bit arithmetic in 32 bits
Family powerRules();       ///< powers by constants
Family exactFloatRules();  ///< identities of floats that are exact
Family randomRules();      ///< halves of Threefry's 64 bits
Family simpleWhereRules(); ///< WHERE of constants and equal branches
Family whereRules();       ///< WHERE and arithmetic
Family boundsRules();      ///< nodes decided by their bounds alone
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
Family kernelRules(); ///< for graphs of kernels alone
Family lowerIndexRules();

} // namespace uopscope::rules
