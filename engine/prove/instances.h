// Graphs that a pattern matches, made from the pattern: every variable becomes a leaf, every set of
// operations one of its members, every type one that fits.
//
//   Instances family(*rule, Leaves::Graphs);
//   for (uint64_t seed = 0; seed < 400; ++seed) if (UOp u = family.make(seed)) tryRule(u);
//
// Leaves::Unknowns: variables of the pattern are variables of the whole range of their type, constants too,
// so that a proof holds for all of them. Leaves::Graphs: small expressions, loops, numbers and vectors, as
// rules that are functions ask for; a proof holds for this graph.
#pragma once
#include "engine/rewrite/rule.h"

#include <random>

namespace uopscope::prove {

enum class Leaves : uint8_t { Unknowns, Graphs };

class Instances {
public:
  Instances(const Rule& rule, Leaves leaves) : rule_(rule), leaves_(leaves) {}

  /// The graph for a seed, in the current pool; null where types do not fit.
  UOp make(uint64_t seed);
  /// What the rule's expression makes of it; null where it has none. Of Leaves::Unknowns only.
  UOp result();
  /// The same with every float of the type, as far as make() chooses one.
  void onlyFloat(DType d) { float_ = d; }
  /// How many types of roots there are: seed % types() chooses among them.
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
  std::mt19937_64 random_;
  std::array<UOp, Match::kMaxBinds> bound_;
  UOp root_;
};

} // namespace uopscope::prove
