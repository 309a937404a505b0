// Series of logarithms: the exponent is taken from the bits, and the mantissa's logarithm is a polynomial or a quotient's series.
#include "engine/codegen/logarithm.h"

#include "engine/codegen/float_argument.h"
#include "engine/codegen/machine_functions.h"

#include <array>
#include <limits>
#include <numbers>

namespace uopscope {

using namespace floatwords;

namespace {

/// log2 m = 2/ln 2 * (s + s^3/3 + s^5/5 ...), s = (m-1)/(m+1), |s| <= 1/5; `beyond` is m - 1.
UOp log2ByQuotient(UOp m, UOp beyond, const MultiplyAdd& multiplyAdd) {
  constexpr int kTerms = 12;
  constexpr double kLead = 2 / std::numbers::ln2;
  const UOp s = beyond * add(m, 1).alu(Op::RECIPROCAL), s2 = s * s;
  std::vector<double> series;
  for (int k = kTerms - 1; k >= 1; --k) series.push_back(kLead / (2 * k + 1));
  return multiplyAdd(s, num(m, kLead), horner(s2, series, multiplyAdd) * s2 * s);
}

/// The same in float32 by a polynomial, since a division takes as long as sixteen products: `beyond` in [-1/4, 1/2).
UOp log2ByPolynomial(UOp beyond, const MultiplyAdd& multiplyAdd) {
  // Through the Chebyshev points of [-1/4, 1/2]: 5e-9 of its size from log2(1 + b) / b. Highest power first, without the leading 1/ln 2.
  static constexpr std::array kCoefficients{-0.06292444802195989, 0.1490227530911221,   -0.18988062790626217,
                                            0.20925249779569718,  -0.24020918159418062, 0.28838092888826566,
                                            -0.3606725619104714,  0.48090076863947984,  -0.7213475589525331};
  // The leading coefficient in two parts keeps the last bits of a result near zero.
  constexpr double kLead = 1.4426950349774168, kHigh = static_cast<double>(static_cast<float>(kLead));
  const UOp tail =
      multiplyAdd(horner(beyond, kCoefficients, multiplyAdd), beyond, num(beyond, kLead - kHigh));
  return multiplyAdd(beyond, num(beyond, kHigh), beyond * tail);
}

/// log2 m, where v is 2^e * m.
UOp log2OfMantissa(UOp m, UOp beyond, const MultiplyAdd& multiplyAdd) {
  return isDouble(m) ? log2ByQuotient(m, beyond, multiplyAdd) : log2ByPolynomial(beyond, multiplyAdd);
}

/// By functions of the machine: the exponent of 0 and infinity is the result, the mantissa of numbers below 0 is NaN.
UOp log2InMachine(UOp v, UOp more, const MultiplyAdd& multiplyAdd) {
  const UOp m = machineCall(MachineFunction::Mantissa, {{v}}),
            below = machineCall(MachineFunction::Exponent, {{v}}), less1 = add(m, -1);
  const UOp e = (less1 < num(v, 0)).where(add(below, 1), below); // of mantissas in [3/4, 3/2)
  UOp beyond = less1;
  if (more) { // an exponent of 0 would not do: numbers below 0 have it, too
    const UOp isNear = (v < num(v, 1.5)) & (v < num(v, 0.75)).logicalNot();
    beyond = isNear.where(more, less1);
  }
  return log2OfMantissa(m, beyond, multiplyAdd) + e;
}

} // namespace

UOp log2Of(UOp v, UOp more, const MultiplyAdd& multiplyAdd) {
  if (hasMachineFunctions(multiplyAdd.target(), v.dtype())) return log2InMachine(v, more, multiplyAdd);
  constexpr double kInf = std::numeric_limits<double>::infinity(),
                   kNan = std::numeric_limits<double>::quiet_NaN();
  Layout l = layoutOf(v);
  double smallest = isDouble(v) ? 0x1p-1022 : 0x1p-126, scale = isDouble(v) ? 0x1p54 : 0x1p25;
  Argument arg(v);
  UOp tiny = arg.below(smallest);
  UOp normal = tiny.where(mul(v, scale), v);
  // The exponent of normal / 0.75, which brings the mantissa into [0.75, 1.5).
  UOp bits = mul(normal, 4.0 / 3.0).bitcast(l.bits);
  // Of what is no positive number e and m are anything: the results stand below.
  UOp e = shiftDown(bits, l.mantissa) + bits.constLike(-l.bias);
  UOp m = (normal.bitcast(l.bits) + shiftLeft(e, l.mantissa) * e.constLike(-1)).bitcast(v.dtype());
  UOp exponent = tiny.where(e + e.constLike(isDouble(v) ? -54 : -25), e).cast(v.dtype());
  UOp beyond = more ? eq(e, e.constLike(0)).where(more, add(m, -1)) : add(m, -1);
  UOp result = log2OfMantissa(m, beyond, multiplyAdd) + exponent;
  UOp beneath = arg.isNot(0.0).where(num(v, kNan), num(v, -kInf));
  result = arg.above(0.0).where(result, beneath);
  return arg.below(kInf).where(result, v);
}

} // namespace uopscope
