// Joins the families of rules into rule sets.
#include "engine/rules/rules.h"

#include "engine/rules/families.h"

namespace uopscope {

using namespace rules;

const PatternMatcher& symbolicSimple() {
  // Invalid comes first: 0 * Invalid must not become 0.
  static const PatternMatcher m({invalidRules(), identityRules(), foldingRules(), booleanRules(), castRules(),
                                 powerRules(), exactFloatRules(), randomRules(), simpleWhereRules()});
  return m;
}

const PatternMatcher& symbolic() {
  static const PatternMatcher m =
      symbolicSimple() +
      PatternMatcher({sumRules(), boundsRules(), whereRules(), minmaxRules(), narrowingRules(),
                      compareRules(), divmodRules(), effectRules(), vectorRules()});
  return m;
}

const PatternMatcher& simplifyValid() {
  static const PatternMatcher m({validRules()});
  return m;
}

const PatternMatcher& sym() {
  static const PatternMatcher m =
      symbolic() + simplifyValid() +
      PatternMatcher({broadcastRules(), kernelRules(), memoryRules(), reduceRules()});
  return m;
}

const PatternMatcher& dropAndClauses() {
  static const PatternMatcher m({dropClauseRules()});
  return m;
}

const PatternMatcher& moveWhereOnLoad() {
  static const PatternMatcher m({moveWhereRules()});
  return m;
}

const PatternMatcher& pushGep() {
  static const PatternMatcher m({vectorRules()});
  return m;
}

const PatternMatcher& lowerIndexDtype() {
  static const PatternMatcher m({lowerIndexRules()});
  return m;
}

} // namespace uopscope
