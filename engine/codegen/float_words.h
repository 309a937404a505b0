// Words that series on the bits of a float are written in: constants of a value's type, the layout of its bits, sums of
// products. Only the files of transcendental functions speak them, so they stand in a namespace of their own.
//
//   multiplyAdd(num(v, 0.5), v, num(v, 1.0))   ->  v*0.5 + 1, rounded once where the target can
//   layoutOf(v).mantissa                       ->  23 for a float32, 52 for a float64
#pragma once
#include "engine/codegen/decompositions.h"
#include "engine/codegen/lanes.h"
#include "engine/codegen/memory.h"

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

} // namespace uopscope::floatwords
