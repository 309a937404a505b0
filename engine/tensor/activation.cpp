// Functions of one argument made of elementwise operations.
#include "engine/tensor/tensor.h"

#include <cmath>
#include <numbers>

namespace uopscope {

namespace {

/// Horner's scheme, highest power first.
Tensor polynomial(const Tensor& x, std::initializer_list<double> coefficients) {
  Tensor sum;
  for (double c : coefficients) sum = sum ? sum.mul(x).add(c) : x.mul(0.0).add(c);
  return sum;
}

} // namespace

Tensor Tensor::relu() const {
  OperationScope op("relu");
  // not maximum(0): its gradient at 0 would be a half
  if (dtype().isBool()) return gt(0).where(*this, 0);
  UOp x = uop(), zero = broadcasted(*this, 0).y.uop(), positive = zero.alu(Op::CMPLT, {x});
  OperationScope::made(positive);
  return apply(positive.where(x, zero));
}
Tensor Tensor::relu6() const {
  OperationScope op("relu6");
  return relu().sub(sub(6).relu());
}
Tensor Tensor::sigmoid() const {
  OperationScope op("sigmoid");
  // By e^-|x|, which cannot overflow: infinity would meet a zero in the gradient of a saturated value.
  Tensor negative = lt(0), decay = negative.where(*this, neg()).mul(1 / std::numbers::ln2).exp2();
  return negative.where(decay, 1.0).div(decay.add(1, true));
}
Tensor Tensor::tanh() const {
  OperationScope op("tanh");
  return mul(2.0, true).sigmoid().mul(2.0, true).sub(1.0);
}
Tensor Tensor::gelu() const {
  OperationScope op("gelu");
  Tensor inner = add(pow(3).mul(0.044715, true)).mul(std::sqrt(2 / std::numbers::pi), true);
  return mul(0.5, true).mul(inner.tanh().add(1, true));
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
  return relu().sub(exp().sub(1, true).relu().mul(alpha, true));
}
Tensor Tensor::celu(double alpha) const {
  OperationScope op("celu");
  return maximum(0).add(div(alpha).exp().sub(1).mul(alpha, true).minimum(0));
}
Tensor Tensor::selu(double alpha, double gamma) const {
  OperationScope op("selu");
  return ge(0).detach().where(*this, exp().sub(1).mul(alpha, true)).mul(gamma, true);
}
Tensor Tensor::softplus(double beta) const {
  OperationScope op("softplus");
  return mul(beta).logaddexp(0.0).mul(1 / beta, true);
}
Tensor Tensor::mish() const {
  OperationScope op("mish");
  return mul(softplus().tanh());
}
Tensor Tensor::softsign() const {
  OperationScope op("softsign");
  return div(abs().add(1, true));
}
Tensor Tensor::logsigmoid() const {
  OperationScope op("logsigmoid");
  return neg().softplus().neg();
}
Tensor Tensor::hardsigmoid(double alpha, double beta) const {
  OperationScope op("hardsigmoid");
  Tensor line = mul(alpha, true).add(beta);
  return line.relu().sub(line.sub(1).relu());
}
Tensor Tensor::hardswish() const {
  OperationScope op("hardswish");
  return mul(add(3).relu6()).mul(1.0 / 6);
}
Tensor Tensor::hardtanh(double low, double high) const {
  OperationScope op("hardtanh");
  return clamp(Operand(low), Operand(high));
}
Tensor Tensor::leakyRelu(double slope) const {
  OperationScope op("leaky_relu");
  return lt(0).where(mul(slope, true), *this);
}
Tensor Tensor::asin() const {
  OperationScope op("asin");
  // Abramowitz and Stegun 4.4.46
  Tensor magnitude = abs();
  Tensor p = polynomial(magnitude, {-0.0012624911, 0.0066700901, -0.0170881256, 0.0308918810, -0.0501743046,
                                    0.0889789874, -0.2145988016, 1.5707963050});
  return sign().mul(magnitude.sub(1.0, true).sqrt().mul(p).sub(std::numbers::pi / 2, true));
}
Tensor Tensor::acos() const {
  OperationScope op("acos");
  return asin().sub(std::numbers::pi / 2, true);
}
Tensor Tensor::atan() const {
  OperationScope op("atan");
  return div(mul(*this).add(1, true).sqrt()).asin();
}
Tensor Tensor::sinh() const {
  OperationScope op("sinh");
  return exp().sub(neg().exp()).div(2);
}
Tensor Tensor::cosh() const {
  OperationScope op("cosh");
  return exp().add(neg().exp()).div(2);
}
Tensor Tensor::asinh() const {
  OperationScope op("asinh");
  return add(square().add(1).sqrt()).log();
}
Tensor Tensor::acosh() const {
  OperationScope op("acosh");
  return add(square().sub(1).sqrt()).log();
}
Tensor Tensor::atanh() const {
  OperationScope op("atanh");
  return add(1, true).div(sub(1, true)).log().div(2);
}
Tensor Tensor::erf() const {
  OperationScope op("erf");
  // Abramowitz and Stegun 7.1.26
  Tensor t = abs().mul(0.3275911, true).add(1.0, true).reciprocal();
  Tensor p = polynomial(t, {1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592});
  return sign().mul(t.mul(p).mul(square().neg().exp()).sub(1.0, true));
}

} // namespace uopscope
