// Nodes as Z3 terms: a second definition of the semantics of engine/uop/eval.h, for a solver. Only solver.cpp
// and this folder's term files include it.
//
//   Terms terms(context, Numbers::Bits);
//   z3::expr sum = terms.of(x + y)[0].value;      // the first lane
#pragma once
#include "engine/uop/uop.h"

#include <z3++.h>

#include <map>
#include <string>
#include <vector>

namespace uopscope::prove {

/// The reason why a node has no term.
struct NoTerm {
  std::string why;
};

/// One lane of a node.
struct Lane {
  z3::expr value;
  z3::expr valid;   ///< whether it is not Invalid
  z3::expr defined; ///< whether no division by zero occurs
};
using Lanes = std::vector<Lane>;

/// The representation of integers. IndexUnbounded: an index is unbounded, all other integers are bit-vectors.
/// Bits: all are bit-vectors, an index has 64 bits. Wrapped: all are unbounded, and arithmetic is taken
/// modulo the range of its type.
enum class Numbers : uint8_t { IndexUnbounded, Bits, Wrapped };

class Terms {
public:
  Terms(z3::context& c, Numbers numbers) : c_(c), numbers_(numbers), bounds_(c) {}

  /// The lanes of a node. The value of an address is its index; the value of a STORE is the memory after it.
  const Lanes& of(UOp u);
  /// The constraints given by the bounds of variables.
  const z3::expr_vector& bounds() const { return bounds_; }
  /// The memory of an access before the access.
  Lanes memoryBefore(UOp access);
  /// The variables and their terms.
  const std::vector<std::pair<UOp, z3::expr>>& leaves() const { return leaves_; }

private:
  struct Access {
    z3::expr memory, index, valid, defined;
  };
  z3::sort sortOf(DType d);
  z3::expr number(DType d, const ConstValue& v);
  z3::expr unknown(UOp u, size_t lane);
  z3::expr function(const std::string& name, const std::vector<z3::expr>& operands, DType result);
  Lane plain(const z3::expr& value) { return {value, c_.bool_val(true), c_.bool_val(true)}; }
  Lanes compute(UOp u);
  Lanes leaf(UOp u);
  Lanes unknownLanes(UOp u);
  Lanes elementwise(UOp u);
  Lane choose(const Lane& condition, const Lane& a, const Lane& b);
  z3::expr alu(UOp u, const std::vector<z3::expr>& v, z3::expr& defined);
  z3::expr integer(Op op, DType d, const std::vector<z3::expr>& v, z3::expr& defined);
  z3::expr unbounded(Op op, DType d, const std::vector<z3::expr>& v, z3::expr& defined);
  z3::expr boolean(Op op, const std::vector<z3::expr>& v, z3::expr& defined);
  z3::expr compared(Op op, DType operand, const z3::expr& a, const z3::expr& b);
  z3::expr converted(DType from, DType to, const z3::expr& v);
  Access accessOf(UOp index);
  Lanes load(UOp u);
  Lanes store(UOp u);
  z3::expr wrapped(DType d, const z3::expr& v);
  bool isBits(DType d) const {
    return d.isInt() && numbers_ != Numbers::Wrapped &&
           (d.kind() != Scalar::Index || numbers_ == Numbers::Bits);
  }
  /// Whether a variable is one number in all types that it is used in.
  bool isShared(UOp u) const;

  z3::context& c_;
  Numbers numbers_;
  z3::expr_vector bounds_;
  std::map<uint32_t, Lanes> known_;
  std::map<std::string, z3::expr> named_;
  std::vector<std::pair<UOp, z3::expr>> leaves_;
};

} // namespace uopscope::prove
