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
  const Target& target() const { return target_; }

private:
  const Target& target_;
  bool fused_;
};

/// v*factor rounded to a whole number n, for |n| well below 2^22 (float64: 2^51).
struct RoundedProduct {
  UOp sum;   ///< whose last bits are n + bias
  UOp whole; ///< n of a positive factor, else -n; a zero is positive
};
inline RoundedProduct roundedProduct(UOp v, double factor, int64_t bias, const MultiplyAdd& multiplyAdd) {
  const Layout l = layoutOf(v);
  // Adding a number whose last bit is 1 rounds the product.
  const double rounder = std::ldexp(1.5, l.mantissa) + static_cast<double>(bias);
  const UOp sum = factor == 1 ? add(v, rounder) : multiplyAdd(v, num(v, factor), num(v, rounder));
  if (!multiplyAdd.target().mayReassociate)
    return {sum, factor > 0 ? add(sum, -rounder) : add(mul(sum, -1), rounder)};
  // Such a compiler would make v of the sum's difference.
  const int64_t start =
      isDouble(v) ? std::bit_cast<int64_t>(rounder) : std::bit_cast<int32_t>(static_cast<float>(rounder));
  const UOp bits = sum.bitcast(l.bits), whole = (bits + bits.constLike(-start)).cast(v.dtype());
  return {sum, factor > 0 ? whole : mul(whole, -1)};
}

/// The polynomial in v with these coefficients, the highest first.
template <typename C>
UOp horner(UOp v, const C& fromHighest, const MultiplyAdd& multiplyAdd) {
  UOp sum = num(v, fromHighest[0]);
  for (size_t i = 1; i < fromHighest.size(); ++i) sum = multiplyAdd(sum, v, num(v, fromHighest[i]));
  return sum;
}

} // namespace uopscope::floatwords
