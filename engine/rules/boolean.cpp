// Boolean algebra. "not x" is written x != true.
#include "engine/rules/families.h"
#include "engine/rules/variables.h"

namespace uopscope::rules {

namespace {

constexpr Pat notX = pat::logicalNot(xb);

constexpr RuleDef kBooleanRules[] = {
    RULE("bool-and-true", xb & true, x),
    RULE("bool-or-true", xb | true, 1),
    RULE("bool-ne-false", xb != false, x),
    RULE("bool-eq-true", pat::binary(Op::CMPEQ, xb, true), x),
    RULE("bool-eq-false", pat::binary(Op::CMPEQ, xb, false), pat::logicalNot(x)),
    RULE("bool-xor-true", xb ^ true, pat::logicalNot(x)),
    RULE("not-not", pat::logicalNot(notX), x),
    RULE("or-not", xb | notX, 1),
    RULE("and-not", xb& notX, 0),
    RULE("xor-bools", pat::op(Op::XOR, xb, yb), x != y),
    // MUL of bools becomes AND, ADD and MAX become OR, so the remaining rules match AND and OR alone.
    RULE("bool-mul", xb* yb, x& y),
    RULE("bool-add", xb + yb, x | y),
    RULE("bool-max", pat::max(xb, yb), x | y),
    RULE("and-again", (xb & y) & x, x& y),
    RULE("or-again", (xb | y) | x, x | y),
    RULE("and-or-absorb", xb&(x | y), x),
    RULE("or-and-absorb", xb | (x & y), x),
    RULE("lt-of-bools", pat::op(Op::CMPLT, xb, true), pat::logicalNot(x)),
    RULE("false-lt", pat::op(Op::CMPLT, false, xb), x),
};
const KnownRules kBooleanRulesKnown(kBooleanRules);

} // namespace

Family booleanRules() {
  return kBooleanRules;
}

} // namespace uopscope::rules
