// The bounds that a gate gives to sums of ranges, and what they decide of quotients, remainders and comparisons.
//
//   GateBounds b((x < 4) & (y - x < 0).logicalNot());     // x in [0, 3], y - x at least 0
//   withinBounds(b, (x + (y - x) * 1 + x * 8) / 9)        // what is known of y - x is used, though it is no node of the sum
#pragma once
#include "engine/uop/uop.h"

#include <optional>
#include <utility>
#include <vector>

namespace uopscope::rules {

/// A clause as a bound: X <= bound or X >= bound.
struct Bound {
  UOp expr;
  bool isUpper = false;
  int64_t bound = 0;
  bool isAll = false; ///< the clause states this bound alone
};
std::optional<Bound> parseClause(UOp clause);

/// The clauses of a conjunction as bounds of expressions, in order of first appearance; `impossible` if they
/// contradict.
struct GateBounds {
  std::vector<UOp> order;
  UOpMap<std::pair<int64_t, int64_t>> of;
  bool impossible = false;

  explicit GateBounds(UOp gate);
};

/// Whether the sum that a clause compares is a multiple of the bounded expression, and larger multiples of fewer terms.
bool isPartOf(const Bound& b, UOp clause);

/// A sum in which quotients without a remainder are written without division, where clauses of the gate say that there is none; null if
/// there is no such quotient. Under (i + k) % 2 < 1 the sum (i - k + 4) / 2 * 6 + k * 3 is i * 3 + 12.
UOp withoutRemainders(UOp gate, UOp sum);

/// u with quotients, remainders and comparisons decided by the bounds of sums that are no nodes of u: within r0*59 + (r1 - r0),
/// the sum r1 - r0. Null if there are none.
UOp withinBounds(const GateBounds& bounds, UOp u);

} // namespace uopscope::rules
