// Functions of one argument, built from elementwise operations.
#include "engine/tensor/real_values.h"
#include "engine/tensor/tensor.h"

#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

namespace uopscope {

namespace {

/// Horner's scheme, highest power first.
Tensor polynomial(const Tensor& x, std::span<const double> c) {
  Tensor sum = x.mul(c[0]).add(c[1]);
  for (size_t i = 2; i < c.size(); ++i) sum = sum.mul(x).add(c[i]);
  return sum;
}
bool isWide(const Tensor& x) {
  return x.dtype().kind() == Scalar::Float64;
}

/// The magnitude for odd functions. Its slope at 0 is 1, unlike that of abs(), since the slope of an odd
/// function at 0 is not 0.
Tensor magnitudeOf(const Tensor& x) {
  Tensor r = realValues(x);
  return r.lt(0).where(r.neg(), r);
}
Tensor withSignOf(const Tensor& x, const Tensor& magnitude) {
  return x.lt(0).where(magnitude.neg(), magnitude);
}
/// min(x, 0), the argument for exponentials in a branch: they cannot overflow where the branch is not chosen.
Tensor negativePart(const Tensor& x) {
  return x.gt(0).where(0, x);
}
/// From this value on x*x + 1 equals x*x, and x*x does not overflow yet.
double farOut(DType d) {
  return d.kind() == Scalar::Float64 ? 0x1p28 : d.kind() == Scalar::Float16 ? 0x1p7 : 0x1p13;
}
/// log(1 + more), or log(2x) for large x. The sum is the last to be made: of LOG2(1 + more) the compiler reads `more` itself.
Tensor logOrTwice(const Tensor& isFar, const Tensor& x, const Tensor& more) {
  return isFar.where(x.sub(1), more).add(1).log().add(isFar.cast(more.dtype()).mul(std::numbers::ln2));
}

/// The arcsine of magnitudes. Above 1/2 it is pi/2 - 2*angle, by the half angle formula asin(m) = pi/2 - 2 asin(sqrt((1-m)/2));
/// up to there it is the angle, by a series in the square.
struct Arcsine {
  Tensor isLarge, angle;
  explicit Arcsine(const Tensor& magnitude) : isLarge(magnitude.gt(0.5)) {
    static constexpr std::array kNarrow{0.031085700741449618, 0.010491472996084682, 0.023634999234731228,
                                        0.030266156835507910, 0.044647836893383150, 0.07499992038447836,
                                        0.16666666687335477};
    // Through the Chebyshev points of [0, 1/4]: 4e-18 from (asin(s)/s - 1) / s^2.
    static constexpr std::array kWide{0.028757851367421565,  -0.014851887071247203, 0.017400879442694022,
                                      0.0054575067186403583, 0.010322814350185779,  0.011479177415184906,
                                      0.013971212973552933,  0.017352392720869973,  0.022372172942149888,
                                      0.030381944138531247,  0.04464285714635543,   0.074999999999984329,
                                      0.16666666666666668};
    const Tensor root = isLarge.where(magnitude.sub(1, true).mul(0.5), 0.25).sqrt();
    const Tensor s = isLarge.where(root, magnitude), square = s.mul(s);
    const Tensor p = isWide(magnitude) ? polynomial(square, kWide) : polynomial(square, kNarrow);
    angle = s.add(s.mul(square).mul(p));
  }
};

/// Coefficients of sinh(x)/x in x^2, the highest first, for |x| <= 1.
std::vector<double> sinhSeries(bool isWide) {
  std::vector<double> c;
  for (int k = isWide ? 9 : 5; k >= 0; --k) c.push_back(1 / std::tgamma(2 * k + 2));
  return c;
}

} // namespace

Tensor Tensor::relu() const {
  OperationScope op("relu");
  // Not maximum(0), whose gradient at 0 would be one half. A NaN is not less than 0 and stays.
  if (!isFloat()) return gt(0).where(*this, 0);
  return le(0).where(0, *this);
}
Tensor Tensor::relu6() const {
  OperationScope op("relu6");
  return hardtanh(0, 6);
}
Tensor Tensor::sigmoid() const {
  OperationScope op("sigmoid");
  // e^-|x| cannot overflow; an infinity would meet a zero in the gradient of a saturated value.
  Tensor x = realValues(*this), negative = lt(0),
         decay = negative.where(x, x.neg()).mul(1 / std::numbers::ln2).exp2();
  return negative.where(decay, 1.0).div(decay.add(1, true));
}
Tensor Tensor::tanh() const {
  OperationScope op("tanh");
  // -d / (d + 2), d = exp(-2 |x|) - 1, of which the compiler keeps all places near 0; |x| is cut where the quotient is 1.
  Tensor x = realValues(*this), size = magnitudeOf(*this);
  const double most = isWide(x) ? 19.3 : 9.3;
  Tensor d = size.gt(most).where(most, size).mul(-2 / std::numbers::ln2).exp2().sub(1);
  Tensor quotient = d.div(d.add(2)); // negative
  return x.lt(0).where(quotient, quotient.neg());
}
Tensor Tensor::gelu() const {
  OperationScope op("gelu");
  // For large |x| the result is x or 0; the argument is bounded, since its cube would overflow there. It jumps to 0 in front of the
  // results that would be subnormal: a product with those takes Intel's processors a hundred cycles and more.
  const bool wide = isWide(*this);
  const double far = wide ? 22 : 16, last = wide ? -21.1 : -10;
  Tensor x = lt(last).where(-2 * far, clamp({}, Operand(far)));
  Tensor inner = x.add(x.pow(3).mul(0.044715, true)).mul(std::sqrt(2 / std::numbers::pi), true);
  return mul(
      inner.mul(2.0, true).sigmoid()); // (1 + tanh y) / 2, of which nothing is left to cancel at negative y
}
Tensor Tensor::quickGelu() const {
  OperationScope op("quick_gelu");
  return mul(mul(1.702).sigmoid());
}
Tensor Tensor::silu() const {
  OperationScope op("silu");
  return mul(sigmoid());
}
Tensor Tensor::elu(double alpha) const {
  OperationScope op("elu");
  return gt(0).where(*this, negativePart(*this).exp().sub(1).mul(alpha, true));
}
Tensor Tensor::celu(double alpha) const {
  OperationScope op("celu");
  return gt(0).where(*this, negativePart(*this).div(alpha).exp().sub(1).mul(alpha, true));
}
Tensor Tensor::selu(double alpha, double gamma) const {
  OperationScope op("selu");
  return elu(alpha).mul(gamma, true);
}
Tensor Tensor::softplus(double beta) const {
  OperationScope op("softplus");
  Tensor x = realValues(*this);
  return x.maximum(0).add(x.abs().mul(-beta).exp().add(1).log().mul(1 / beta, true));
}
Tensor Tensor::mish() const {
  OperationScope op("mish");
  // tanh(log(1 + e^x)) = n / (n + 2), n = e^x (e^x + 2); above 0 both are divided by e^2x, since the gradient's terms would cancel.
  Tensor x = realValues(*this), negative = lt(0);
  Tensor d = negative.where(x, x.neg()).exp(), square = d.mul(d);
  Tensor n = negative.where(square, 1.0).add(d.mul(2.0)), rest = negative.where(1.0, square).mul(2.0);
  return mul(n.div(n.add(rest)));
}
Tensor Tensor::softsign() const {
  OperationScope op("softsign");
  Tensor x = realValues(*this);
  return x.div(x.abs().add(1, true));
}
Tensor Tensor::logsigmoid() const {
  OperationScope op("logsigmoid");
  return neg().softplus().neg();
}
Tensor Tensor::hardsigmoid(double alpha, double beta) const {
  OperationScope op("hardsigmoid");
  return mul(alpha, true).add(beta).hardtanh(0, 1);
}
Tensor Tensor::hardswish() const {
  OperationScope op("hardswish");
  return mul(add(3).relu6().mul(1.0 / 6));
}
Tensor Tensor::hardtanh(double low, double high) const {
  OperationScope op("hardtanh");
  return le(low).where(low, ge(high).where(high, *this));
}
Tensor Tensor::leakyRelu(double slope) const {
  OperationScope op("leaky_relu");
  return gt(0).where(*this, mul(slope, true));
}
Tensor Tensor::asin() const {
  OperationScope op("asin");
  const Arcsine of(magnitudeOf(*this));
  return withSignOf(*this, of.isLarge.where(of.angle.mul(2).sub(std::numbers::pi / 2, true), of.angle));
}
Tensor Tensor::acos() const {
  OperationScope op("acos");
  // Near 1 the arcsine is pi/2 less a small angle: the angle is all that counts.
  const Arcsine of(magnitudeOf(*this));
  const Tensor twice = of.angle.mul(2), far = lt(0).where(twice.sub(std::numbers::pi, true), twice);
  return of.isLarge.where(far, withSignOf(*this, of.angle).sub(std::numbers::pi / 2, true));
}
Tensor Tensor::atan() const {
  OperationScope op("atan");
  // Angles beyond 3/8 of pi and beyond 1/8 are those of a right angle and of half of one, and a rest: one quotient for all three. Of the
  // rest a series in its square, (atan(t)/t - 1) / t^2 through the Chebyshev points, 3e-9 (float64: 7e-21) of the whole from it.
  static constexpr std::array kSeries{-0.0645184127688279735, 0.10743705260895021, -0.142639531711563288,
                                      0.199995404136035381, -0.333333317608637656};
  static constexpr std::array kWideSeries{
      -0.0139176952193105726, 0.0306351763685560799, -0.0410441349020750121, 0.0471938939438004988,
      -0.0525804067181348263, 0.0588192516213050913, -0.0666664201380282361, 0.0769230673571838614,
      -0.0909090906700196471, 0.111111111107545951,  -0.142857142857115174,  0.199999999999999915,
      -0.333333333333333333};
  constexpr double kEighth = 0.41421356237309503,
                   kThreeEighths = 2.4142135623730949; // tangents of these parts of pi
  Tensor m = magnitudeOf(*this), isFar = m.gt(kThreeEighths), isMiddle = m.gt(kEighth);
  Tensor t =
      isFar.where(-1.0, isMiddle.where(m.sub(1), m)).div(isFar.where(m, isMiddle.where(m.add(1), 1.0)));
  Tensor square = t.mul(t),
         series = isWide(t) ? polynomial(square, kWideSeries) : polynomial(square, kSeries),
         angle = t.mul(square.mul(series).add(1)); // a product keeps the sign of zero
  Tensor whole =
      isFar.where(angle.add(std::numbers::pi / 2), isMiddle.where(angle.add(std::numbers::pi / 4), angle));
  return withSignOf(*this, whole);
}
Tensor Tensor::sinh() const {
  OperationScope op("sinh");
  Tensor x = realValues(*this), isNear = x.abs().lt(1), near = isNear.where(x, 0);
  return isNear.where(near.mul(polynomial(near.mul(near), sinhSeries(isWide(x)))),
                      x.exp().sub(x.neg().exp()).div(2));
}
Tensor Tensor::cosh() const {
  OperationScope op("cosh");
  Tensor x = realValues(*this);
  return x.exp().add(x.neg().exp()).div(2);
}
Tensor Tensor::asinh() const {
  OperationScope op("asinh");
  Tensor magnitude = magnitudeOf(*this), isFar = magnitude.gt(farOut(dtype())), m = isFar.where(1, magnitude);
  Tensor square = m.mul(m), more = m.add(square.div(square.add(1).sqrt().add(1))); // m + sqrt(m*m + 1) - 1
  return withSignOf(*this, logOrTwice(isFar, magnitude, more));
}
Tensor Tensor::acosh() const {
  OperationScope op("acosh");
  // Below -1 the value is NaN, but its derivative 1/sqrt(x*x - 1) is not: that of the odd continuation.
  Tensor magnitude = magnitudeOf(*this), isFar = magnitude.gt(farOut(dtype())), m = isFar.where(2, magnitude);
  Tensor above = m.sub(1), curve = logOrTwice(isFar, magnitude, above.add(above.sqrt().mul(m.add(1).sqrt())));
  Tensor zero = scalar(ConstValue::ofInt(0), {device(), curve.dtype(), false});
  return withSignOf(*this, curve).add(lt(0).where(NAN, zero));
}
Tensor Tensor::atanh() const {
  OperationScope op("atanh");
  Tensor x = realValues(*this);
  return x.add(1, true).log().sub(x.sub(1, true).log()).div(2);
}
Tensor Tensor::erf() const {
  OperationScope op("erf");
  // A series in the square up to 1; from there what is missing to 1, erfc: for float32 2 to the power of a polynomial, up to 4,
  // and for float64 e^(-x*x) times a polynomial in t = 1/(1 + 0.4*x), up to 6. They are within 2e-8 (float64: 1e-17).
  static constexpr std::array kNear{7.8758750626854883e-5, -0.00080168642871658695, 0.005189087423433974,
                                    -0.026854212010626412, 0.11283594715160218,     -0.37612626666720331,
                                    1.1283791658483509};
  static constexpr std::array kFar{-0.001659704076, 0.0213202892, -0.1278719927,
                                   -0.9442280879,   -1.612122866, -0.00385447689};
  static constexpr std::array kWideNear{
      5.9571761477489114e-11, -1.1372848856791674e-9, 1.4659775274047436e-8,  -1.6350312701054695e-7,
      1.6461000484121368e-6,  -1.4925595266831182e-5, 0.00012055331111642711, -0.00085483269808337899,
      0.0052239776248180145,  -0.026866170645076793,  0.11283791670954879,    -0.37612638903183748,
      1.1283791670955126};
  static constexpr std::array kWideFar{
      0.021932867951782663, -0.17960289600282857,  0.65960966765671077,  -1.4190532450832517,
      1.96870637526668,     -1.8625308492774911,   1.2998449160679734,   -0.73049581518179237,
      0.27932614450513092,  -0.076271297511334675, 0.090206045276977065, 0.11729074651332565,
      0.17211821619337092,  0.20756419496212971,   0.22567922531512367,  0.22567574023747269};
  const bool wide = isWide(*this);
  const double last = wide ? 6 : 4;
  Tensor magnitude = magnitudeOf(*this), isNear = magnitude.lt(1);
  Tensor near = isNear.where(magnitude, 0), far = magnitude.gt(last).where(last, magnitude);
  Tensor square = near.mul(near), series, missing;
  if (wide) {
    Tensor t = far.mul(0.4, true).add(1.0, true).reciprocal();
    series = near.mul(polynomial(square, kWideNear));
    missing = t.mul(polynomial(t, kWideFar)).mul(far.mul(far).neg().exp());
  } else {
    series = near.mul(polynomial(square, kNear));
    missing = polynomial(far, kFar).exp2();
  }
  Tensor tail = missing.sub(1.0, true);
  return withSignOf(*this, isNear.where(series, tail));
}

} // namespace uopscope
