// Sums of integers in normal form: constant factors times distinct nodes in a fixed order, and a constant
// last.
//
//   Linear l = linearOf(r0*4 + n + (r0+2)*3);    // terms {(n,1), (r0,7)}, constant 6
//   l.toUOp() renders n+r0*7+6
//
// A sum is flattened in one go: cost is n log n in its number of terms, whatever its nesting, and nothing
// recurses. The order depends on the content of nodes, not on when they were made, so it is the same in every pool.
// Arithmetic that leaves 64 bits is not folded: the part in question stays a node of its own.
#pragma once
#include "engine/uop/uop.h"

namespace uopscope {

struct Term {
  UOp node; ///< neither a sum, nor a constant, nor a multiple by a constant
  int64_t factor = 1;
  bool operator==(const Term&) const = default;
};

struct Linear {
  std::vector<Term> terms; ///< in order of compareNodes, factors not 0
  int64_t constant = 0;
  DType dtype = dtypes::index;

  bool isConst() const { return terms.empty(); }
  /// The sum as nodes: ((t0 + t1) + t2) + constant.
  UOp toUOp() const;
  /// One term as a node.
  UOp termUOp(const Term& t) const;
};

/// Order of nodes by content: operation, type, argument, sources; deep ties go by id.
int compareNodes(UOp a, UOp b);

/// Flattens an integer sum: ADD, SUB, NEG, MUL by a constant.
Linear linearOf(UOp sum);
/// Sorts and merges terms; false when a factor leaves 64 bits (then nothing is changed).
bool normalize(Linear& sum);
/// Whether the nodes are already those of linearOf(u).toUOp(); looks at no more than `limit` terms and
/// answers true beyond that. Known answers are remembered, so asking again is free.
bool isNormalSum(UOp u, size_t limit = SIZE_MAX);
/// Whether the sum has more than `limit` parts (ADD nodes are counted along their left sources).
bool isLongSum(UOp u, size_t limit);

/// Sum, product, exact quotient in normal form; the quotient is null where it is not exact for sure.
UOp addTerms(UOp a, UOp b);
UOp multiplyTerms(UOp a, UOp b);
UOp divideTerms(UOp a, UOp b);

/// The factors of a product, left to right: a*b*c -> {a, b, c}; the constant is multiplied into `constant`.
std::vector<UOp> factorsOf(UOp product, int64_t& constant);

} // namespace uopscope
