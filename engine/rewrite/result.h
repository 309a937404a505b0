// The result expression of a rule, built over a match.
//
//   buildResult(rule.result, {m.root(), m.binds(), &m})      x + fold(c0 + c1)   becomes   ADD(r0, CONST 7)
//
// Without a match the constants are unknowns, as a proof wants them: an operation that would be folded is
// written as arithmetic, and an expression with a part made by a function, or by the pass, has no result.
#pragma once
#include "engine/rewrite/rule.h"

namespace uopscope {

/// The bindings that a result is built over, by their places in the pattern.
struct ResultOf {
  UOp root;
  const UOp* binds;
  Match* match = nullptr;
};

/// Null where a part cannot be made; the match then has the reason.
UOp buildResult(const Pat& result, const ResultOf& of);

} // namespace uopscope
