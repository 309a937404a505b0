// Functions of one argument, built from elementwise operations.
#include "engine/tensor/real_values.h"
#include "engine/tensor/tensor.h"

#include <cmath>
#include <numbers>

namespace uopscope {

namespace {

/// Horner's scheme, highest power first.
Tensor polynomial(const Tensor& x, std::initializer_list<double> coefficients) {
  const double* c = coefficients.begin();
  Tensor sum = x.mul(c[0]).add(c[1]);
  for (size_t i = 2; i < coefficients.size(); ++i) sum = sum.mul(x).add(c[i]);
  return sum;
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
/// log(sum); log(2x) for large x.
Tensor logOrTwice(const Tensor& isFar, const Tensor& x, const Tensor& sum) {
  return isFar.where(x, sum).log().add(isFar.cast(sum.dtype()).mul(std::numbers::ln2));
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
  return mul(2.0, true).sigmoid().mul(2.0, true).sub(1.0);
}
Tensor Tensor::gelu() const {
  OperationScope op("gelu");
  // For large |x| the result is x or 0; the argument is bounded, since its cube would overflow there.
  constexpr double kFar = 16;
  Tensor x = clamp(Operand(-kFar), Operand(kFar));
  Tensor inner = x.add(x.pow(3).mul(0.044715, true)).mul(std::sqrt(2 / std::numbers::pi), true);
  return mul(inner.mul(2.0, true).sigmoid()); // (1 + tanh y) / 2, of which nothing is left to cancel at negative y
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
  return mul(softplus().tanh());
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
  // Above 1/2 the half angle formula asin(m) = pi/2 - 2 asin(sqrt((1-m)/2)), below it a series in the square.
  Tensor magnitude = magnitudeOf(*this), isLarge = magnitude.gt(0.5);
  Tensor root = isLarge.where(magnitude.sub(1, true).mul(0.5), 0.25).sqrt();
  Tensor s = isLarge.where(root, magnitude), square = s.mul(s);
  Tensor p = polynomial(square, {0.031085700741449618, 0.010491472996084682, 0.023634999234731228,
                                 0.030266156835507910, 0.044647836893383150, 0.07499992038447836,
                                 0.16666666687335477});
  Tensor angle = s.add(s.mul(square).mul(p));
  return withSignOf(*this, isLarge.where(angle.mul(2).sub(std::numbers::pi / 2, true), angle));
}
Tensor Tensor::acos() const {
  OperationScope op("acos");
  return asin().sub(std::numbers::pi / 2, true);
}
Tensor Tensor::atan() const {
  OperationScope op("atan");
  Tensor magnitude = magnitudeOf(*this), isLarge = magnitude.gt(1);
  Tensor t = isLarge.where(isLarge.where(magnitude, 1).reciprocal(), magnitude);
  Tensor angle = t.div(t.mul(t).add(1).sqrt()).asin();
  return withSignOf(*this, isLarge.where(angle.sub(std::numbers::pi / 2, true), angle));
}
Tensor Tensor::sinh() const {
  OperationScope op("sinh");
  Tensor x = realValues(*this);
  return x.exp().sub(x.neg().exp()).div(2);
}
Tensor Tensor::cosh() const {
  OperationScope op("cosh");
  Tensor x = realValues(*this);
  return x.exp().add(x.neg().exp()).div(2);
}
Tensor Tensor::asinh() const {
  OperationScope op("asinh");
  Tensor magnitude = magnitudeOf(*this), isFar = magnitude.gt(farOut(dtype())), m = isFar.where(1, magnitude);
  Tensor sum = m.add(m.mul(m).add(1).sqrt());
  return withSignOf(*this, logOrTwice(isFar, magnitude, sum));
}
Tensor Tensor::acosh() const {
  OperationScope op("acosh");
  // Below -1 the value is NaN, but its derivative 1/sqrt(x*x - 1) is not: that of the odd continuation.
  Tensor magnitude = magnitudeOf(*this), isFar = magnitude.gt(farOut(dtype())), m = isFar.where(2, magnitude);
  Tensor curve = logOrTwice(isFar, magnitude, m.add(m.sub(1).sqrt().mul(m.add(1).sqrt())));
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
  // A series near 0, Abramowitz and Stegun 7.1.26 elsewhere.
  Tensor magnitude = magnitudeOf(*this), isNear = magnitude.lt(0.5);
  Tensor near = isNear.where(magnitude, 0), far = magnitude.gt(16).where(16, magnitude);
  Tensor t = far.mul(0.3275911, true).add(1.0, true).reciprocal();
  Tensor series =
      near.mul(polynomial(near.mul(near), {-0.00076947935865325, 0.005200200596834698, -0.026863031831923838,
                                           0.1128377217580037, -0.3761263841814888, 1.128379167066853}));
  Tensor p = polynomial(t, {1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592});
  Tensor tail = t.mul(p).mul(far.mul(far).neg().exp()).sub(1.0, true);
  return withSignOf(*this, isNear.where(series, tail));
}

} // namespace uopscope
