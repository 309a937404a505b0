// Sint: an int, or a UOp where a dimension is symbolic. Arithmetic on ints is arithmetic; on anything else it
// makes UOps of dtype index. Equality is structural.
#pragma once
#include "engine/uop/uop.h"

namespace uopscope {

class Sint {
public:
  Sint(int64_t v = 0) : value_(v) {}
  Sint(int v) : value_(v) {}
  Sint(size_t v) : value_(static_cast<int64_t>(v)) {}
  /// A CONST becomes its int.
  Sint(UOp u) {
    if (u.isConst() && u.arg().kind() == ArgKind::Int)
      value_ = u.arg().i();
    else
      uop_ = u;
  }
  bool isInt() const { return !uop_; }
  int64_t i() const { return value_; } ///< only where isInt()
  /// As a node of dtype index in the current pool.
  UOp uop() const { return uop_ ? uop_ : UOp::index(value_); }
  int64_t vmin() const { return uop_ ? uop_.vmin() : value_; }
  int64_t vmax() const { return uop_ ? uop_.vmax() : value_; }
  bool operator==(const Sint& o) const { return uop_ == o.uop_ && (uop_ || value_ == o.value_); }
  std::string str() const { return uop_ ? uop_.render() : std::to_string(value_); }

  Sint operator+(const Sint& o) const;
  Sint operator-(const Sint& o) const;
  Sint operator*(const Sint& o) const;
  Sint operator/(const Sint& o) const; ///< floor where both are ints
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
/// A shape as the source of RESHAPE, EXPAND, PAD, SHRINK: VECTORIZE of index nodes (a CONST for one,
/// NOOP-free; for rank 0 a VECTORIZE without sources), and back.
UOp shapeToUOp(std::span<const Sint> shape);
Shape uopToShape(UOp u);

} // namespace uopscope
