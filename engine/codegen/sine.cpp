// A single polynomial serves every angle, since a multiple of pi, not of pi/2, is taken away: no lane chooses between a sine and a cosine.
#include "engine/codegen/sine.h"

#include "engine/codegen/angle_reduction.h"
#include "engine/codegen/float_argument.h"

#include <limits>
#include <vector>

namespace uopscope {

using namespace floatwords;

namespace {

/// Coefficients of sin r / r in r^2 for |r| <= pi/2, the highest first, with the least error relative to sin r: 6e-9 for float32, 3e-19 for
/// float64.
std::vector<double> sinePolynomial(bool isWide) {
  if (!isWide)
    return {2.605750976848707962222e-6, -1.980959024829987245563e-4, 8.333066084922673472246e-3,
            -1.66666595446527752588e-1, 1};
  return {2.721156927565417e-15,  -7.642989814142944e-13, 1.6058939643062583e-10,
          -2.5052106871581575e-8, 2.7557319211124368e-6,  -1.9841269841209146e-4,
          8.333333333333194e-3,   -1.6666666666666666e-1, 1};
}

/// The sine of an angle: that of its rest, whose sign may turn. A product keeps the sign of a zero, which a sum with it would lose.
UOp sineOfRest(const ReducedAngle& angle, const MultiplyAdd& multiplyAdd) {
  const UOp rest = angle.rest;
  const UOp sine = horner(rest * rest, sinePolynomial(isDouble(rest)), multiplyAdd) * rest;
  const UOp turns = angle.turns;
  const auto signBit = static_cast<int64_t>(turns.dtype().scalar().itemsize()) * 8 - 1;
  return (sine.bitcast(turns.dtype()) ^ turns.alu(Op::SHL, {turns.constLike(signBit)})).bitcast(rest.dtype());
}

UOp sineOfTurned(UOp v, Turned turned, const MultiplyAdd& multiplyAdd) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double largest = largestSmallAngle(v);
  const Argument arg(v);
  UOp sine = sineOfRest(reduceSmallAngle(v, turned, multiplyAdd), multiplyAdd);
  if (!arg.within(-largest, largest)) {
    const UOp isSmall = arg.below(largest) & arg.above(-largest);
    const UOp large = isSmall.where(num(v, largest), v);
    const UOp ofLarge = sineOfRest(reduceAnyAngle(large, turned, multiplyAdd.target()), multiplyAdd);
    const UOp isFinite = (large < num(v, kInf)) & (num(v, -kInf) < large);
    sine = isSmall.where(sine, isFinite.where(ofLarge, num(v, std::numeric_limits<double>::quiet_NaN())));
  }
  // Rounding may take the polynomial past 1, which no sine is.
  const UOp top = num(v, 1), bottom = num(v, -1);
  const UOp atMost1 = (top < sine).where(top, sine);
  return (atMost1 < bottom).where(bottom, atMost1);
}

} // namespace

UOp sineOf(UOp v, const MultiplyAdd& multiplyAdd) {
  return sineOfTurned(v, Turned::None, multiplyAdd);
}
UOp cosineOf(UOp v, const MultiplyAdd& multiplyAdd) {
  return sineOfTurned(v, Turned::Quarter, multiplyAdd);
}

} // namespace uopscope
