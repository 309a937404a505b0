// Words that series on the bits of a float are written in: constants of a value's type, the layout of its bits, sums of
// products. Only the files of transcendental functions speak them, so they stand in a namespace of their own.
//
//   multiplyAdd(num(v, 0.5), v, num(v, 1.0))   ->  v*0.5 + 1, rounded once where the target can
//   layoutOf(v).mantissa                       ->  23 for a float32, 52 for a float64
#pragma once
#include "engine/codegen/decompositions.h"
#include "engine/codegen/lanes.h"
#include "engine/codegen/memory.h"

#include <bit>
#include <cmath>

namespace uopscope::floatwords {

inline UOp num(UOp like, double v) {
  return UOp::constant(like.dtype(), v);
}
inline UOp add(UOp a, double v) {
  return a + num(a, v);
}
inline UOp mul(UOp a, double v) {
  return a * num(a, v);
}
inline UOp shiftLeft(UOp v, int by) {
  return v * v.constLike(int64_t{1} << by);
}
/// v >> by of a signed integer, rounded towards minus infinity.
inline UOp shiftDown(UOp v, int by) {
  return v.alu(Op::SHR, {v.constLike(by)});
}
inline bool isDouble(UOp v) {
  return v.dtype().kind() == Scalar::Float64;
}

/// Where the bits of a float32 or float64 are; `bits` has as many lanes as the value.
struct Layout {
  DType bits;
  int mantissa;
  int64_t bias;
};
inline Layout layoutOf(UOp v) {
  int n = laneCount(v);
  if (isDouble(v)) return {dtypes::int64.vec(n), 52, 1023};
  return {dtypes::int32.vec(n), 23, 127};
}

/// a*b + c, rounded once if the machine can. The target alone decides, so every kernel computes the same
/// value. Keeps a reference to the target.
class MultiplyAdd {
public:
  explicit MultiplyAdd(const Target& target) : target_(target), fused_(isNative(target, Op::MULACC)) {}
  UOp operator()(UOp a, UOp b, UOp c) const { return fused_ ? a.alu(Op::MULACC, {b, c}) : a * b + c; }
  bool isFused() const { return fused_; }
  const Target& target() const { return target_; }

private:
  const Target& target_;
  bool fused_;
};

/// v*factor rounded to a whole number n, for |n| well below 2^22 (float64: 2^51).
class RoundedProduct {
public:
  RoundedProduct(UOp v, double factor, int64_t bias, const MultiplyAdd& multiplyAdd)
      : rounder_(std::ldexp(1.5, layoutOf(v).mantissa) +
                 static_cast<double>(bias)), // its last bit counts 1, so adding it rounds
        sum_(factor == 1 ? add(v, rounder_) : multiplyAdd(v, num(v, factor), num(v, rounder_))),
        isByBits_(multiplyAdd.target().mayReassociate) {}

  /// A number whose last bits are n + bias.
  UOp sum() const { return sum_; }
  /// n; a zero is positive.
  UOp whole() const { return isByBits_ ? fromBits() : add(sum_, -rounder_); }
  /// -n; a zero is positive.
  UOp minusWhole() const { return isByBits_ ? mul(fromBits(), -1) : add(mul(sum_, -1), rounder_); }

private:
  /// Of (v + rounder) - rounder a compiler that reassociates would make v.
  UOp fromBits() const {
    const int64_t start = isDouble(sum_) ? std::bit_cast<int64_t>(rounder_)
                                         : std::bit_cast<int32_t>(static_cast<float>(rounder_));
    const UOp bits = sum_.bitcast(layoutOf(sum_).bits);
    return (bits + bits.constLike(-start)).cast(sum_.dtype());
  }

  double rounder_;
  UOp sum_;
  bool isByBits_;
};

/// The polynomial in v with these coefficients, the highest first.
template <typename C>
UOp horner(UOp v, const C& fromHighest, const MultiplyAdd& multiplyAdd) {
  UOp sum = num(v, fromHighest[0]);
  for (size_t i = 1; i < fromHighest.size(); ++i) sum = multiplyAdd(sum, v, num(v, fromHighest[i]));
  return sum;
}

} // namespace uopscope::floatwords
