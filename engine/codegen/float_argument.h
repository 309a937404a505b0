// An argument of a transcendental function: conditions on it, which fold to a constant where its interval is known.
//
//   Argument(BITCAST(x & 0x7fffff | 0x3f800000)).above(0.0)   ->  true, without a comparison
//   Argument(a load).above(0.0)                               ->  0 < load
#pragma once
#include "engine/codegen/float_interval.h"
#include "engine/codegen/float_words.h"

namespace uopscope::floatwords {

/// Conditions are bools of as many lanes as the argument.
class Argument {
public:
  explicit Argument(UOp v) : v_(v), bounds_(floatBounds(v)) {}

  UOp below(double c) const {
    if (bounds_.high < c && !bounds_.maybeNan) return yes();
    return bounds_.low >= c ? no() : v_ < num(v_, c);
  }
  UOp above(double c) const {
    if (bounds_.low > c && !bounds_.maybeNan) return yes();
    return bounds_.high <= c ? no() : num(v_, c) < v_;
  }
  UOp isNot(double c) const { return bounds_.high < c || c < bounds_.low ? yes() : ne(v_, num(v_, c)); }
  /// Whether the argument is known to lie between these bounds.
  bool within(double low, double high) const {
    return !bounds_.maybeNan && low <= bounds_.low && bounds_.high <= high;
  }
  UOp yes() const { return UOp::constant(dtypes::bool_.vec(laneCount(v_)), int64_t{1}); }
  UOp no() const { return UOp::constant(dtypes::bool_.vec(laneCount(v_)), int64_t{0}); }

private:
  UOp v_;
  FloatBounds bounds_;
};

} // namespace uopscope::floatwords
