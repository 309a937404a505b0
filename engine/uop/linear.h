// Integer sums in normal form: distinct nodes times constant factors, in a fixed order, and a constant last.
//
//   Linear l = linearOf(r0*4 + n + (r0+2)*3);    // terms {(n,1), (r0,7)}, constant 6
//   l.toUOp()                                    // renders n+r0*7+6
//
// A sum is flattened at once: the cost is n log n in its number of terms, whatever its nesting, without
// recursion. The order depends on the content of nodes and not on the time they were made, so it is the same
// in every pool. A part whose arithmetic would leave 64 bits is not folded and stays a node of its own.
#pragma once
#include "engine/uop/uop.h"

namespace uopscope {

struct Term {
  UOp node; ///< neither a sum, nor a constant, nor a multiple by a constant
  int64_t factor = 1;
  bool operator==(const Term&) const = default;
};

struct Linear {
  std::vector<Term> terms; ///< sorted by compareNodes; no factor is 0
  int64_t constant = 0;
  DType dtype = dtypes::index;

  bool isConst() const { return terms.empty(); }
  /// The sum as nodes: ((t0 + t1) + t2) + constant.
  UOp toUOp() const;
  /// One term as a node.
  UOp termUOp(const Term& t) const;
};

/// The order of nodes by content: operation, type, argument, sources. Ties deeper than a few levels go by id.
int compareNodes(UOp a, UOp b);

/// Flattens an integer sum, made of ADD, SUB, NEG and MUL by a constant.
Linear linearOf(UOp sum);
/// Sorts and merges terms. Returns false and changes nothing if a factor leaves 64 bits.
bool normalize(Linear& sum);
/// Whether u already consists of the nodes of linearOf(u).toUOp(). A sum with more than `limit` terms counts
/// as normal. Answers are remembered, so asking again costs nothing.
bool isNormalSum(UOp u, size_t limit = SIZE_MAX);
/// Whether the sum has more than `limit` terms; ADD and MUL nodes are counted along left sources alone.
bool isLongSum(UOp u, size_t limit);

/// Sum, product and exact quotient in normal form. The quotient is null unless it is certainly exact.
UOp addTerms(UOp a, UOp b);
UOp multiplyTerms(UOp a, UOp b);
UOp divideTerms(UOp a, UOp b);

/// The factors of a product, left to right: a*b*c -> {a, b, c}; the constant is multiplied into `constant`.
std::vector<UOp> factorsOf(UOp product, int64_t& constant);

} // namespace uopscope
