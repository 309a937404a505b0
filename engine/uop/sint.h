// Sint: a dimension, which is an int or a symbolic UOp. Arithmetic on two ints gives an int; with a symbolic
// operand it makes UOps of dtype index. Equality is structural.
//
//   Sint n = variable, m = n * 4 + 2;      // m is the node n*4+2;   Sint(3) * 4 is the int 12
#pragma once
#include "engine/uop/uop.h"

namespace uopscope {

class Sint {
public:
  Sint(int64_t v = 0) : value_(v) {}
  Sint(int v) : value_(v) {}
  Sint(size_t v) : value_(static_cast<int64_t>(v)) {}
  /// A CONST becomes an int.
  Sint(UOp u) {
    if (u.isConst() && u.arg().kind() == ArgKind::Int)
      value_ = u.arg().i();
    else
      uop_ = u;
  }
  bool isInt() const { return !uop_; }
  int64_t i() const { return value_; } ///< only where isInt()
  /// The value as a node of dtype index in the current pool.
  UOp uop() const { return uop_ ? uop_ : UOp::index(value_); }
  int64_t vmin() const { return uop_ ? uop_.vmin() : value_; }
  int64_t vmax() const { return uop_ ? uop_.vmax() : value_; }
  bool operator==(const Sint& o) const { return uop_ == o.uop_ && (uop_ || value_ == o.value_); }
  std::string str() const { return uop_ ? uop_.render() : std::to_string(value_); }

  Sint operator+(const Sint& o) const;
  Sint operator-(const Sint& o) const;
  Sint operator*(const Sint& o) const;
  Sint operator/(const Sint& o) const; ///< rounds down if both are ints
  Sint operator%(const Sint& o) const;

private:
  UOp uop_;
  int64_t value_ = 0;
};

Sint prod(std::span<const Sint> v);
std::string shapeStr(std::span<const Sint> shape); ///< "(2, 3)"
inline bool allInt(std::span<const Sint> shape) {
  for (const Sint& s : shape)
    if (!s.isInt()) return false;
  return true;
}
/// A shape as the source of RESHAPE, EXPAND, PAD and SHRINK, and back. The source is a VECTORIZE of index
/// nodes; a single CONST for rank 1, a VECTORIZE without sources for rank 0.
UOp shapeToUOp(std::span<const Sint> shape);
Shape uopToShape(UOp u);

} // namespace uopscope
