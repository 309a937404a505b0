// Builds the result expression of a rule for a match.
//
//   buildResult(rule.result, {m.root(), m.binds(), &m})      x + fold(c0 + c1)   becomes   ADD(r0, CONST 7)
//
// Without a match, constants are unknowns, as a proof needs them. An operation that would be folded is then
// built as arithmetic, and an expression with a part made by a function or by the pass has no result.
#pragma once
#include "engine/rewrite/rule.h"

namespace uopscope {

/// The bindings of a result, by the position of their variables in the pattern.
struct ResultOf {
  UOp root;
  const UOp* binds;
  Match* match = nullptr;
};

/// Null if a part cannot be made; the match then has the reason.
UOp buildResult(const Pat& result, const ResultOf& of);

} // namespace uopscope
