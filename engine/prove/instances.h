// Graphs that a pattern matches, made from the pattern. Every variable becomes a leaf, every set of
// operations becomes one of its members, and every type becomes one that fits.
//
//   Instances family(*rule, Leaves::Graphs);
//   for (uint64_t seed = 0; seed < 400; ++seed) if (UOp u = family.make(seed)) tryRule(u);
//
// Leaves::Unknowns: the pattern's variables, including constants, become variables with the whole range of
// their type, so a proof holds for all values. Leaves::Graphs: leaves are small expressions, loops, numbers
// and vectors, as rules with functions need them; a proof then holds for this graph.
#pragma once
#include "engine/rewrite/rule.h"

#include <random>

namespace uopscope::prove {

enum class Leaves : uint8_t { Unknowns, Graphs };

class Instances {
public:
  // NOLINTNEXTLINE(bugprone-random-generator-seed): make() seeds it
  Instances(const Rule& rule, Leaves leaves) : rule_(rule), leaves_(leaves) {}

  /// The graph for a seed, in the current pool; null if no types fit.
  UOp make(uint64_t seed);
  /// The rule's result expression for that graph; null if the rule has none. For Leaves::Unknowns only.
  UOp result();
  /// Makes this the only float type of graphs, where make() chooses one.
  void onlyFloat(DType d) { float_ = d; }
  /// The number of root types: seed % types() chooses one of them.
  static size_t types();

private:
  size_t pick(size_t n) { return n < 2 ? 0 : random_() % n; }
  UOp build(size_t at, DType want);
  UOp buildNode(const PatNode& n, DType want);
  UOp buildAny(Op op, DType want);
  bool operands(const PatNode& n, Op op, DType want, std::vector<UOp>& src);
  UOp memory(const PatNode& n, Op op, DType want);
  UOp address(const PatNode& n, DType element);
  UOp leaf(DType want, const PatNode* n, int depth = 0);
  UOp constant(DType want);
  UOp index(int depth);
  UOp condition(int depth);
  DType anyType(int lanes);
  DType operandType(const PatNode& n, DType want);
  bool suits(Op op, DType want) const;

  const Rule& rule_;
  Leaves leaves_;
  DType float_ = dtypes::float32;
  std::mt19937_64 random_; ///< make() seeds it
  std::array<UOp, Match::kMaxBinds> bound_;
  UOp root_;
};

} // namespace uopscope::prove
