// Operations of Tensor as data, so that tests can apply the same checks to all: empty tensors, dimensions of
// 1, other devices, gradients.
//
//   for (const Operation& op : operations()) if (op.differentiable) checkGradient(op.name, op.apply);
#pragma once
#include "engine/tensor/tensor.h"

#include <functional>
#include <string>
#include <vector>

namespace uopscope::testing {

struct Operation {
  std::string name;
  std::function<Tensor(const Tensor&)> apply; ///< of a float tensor of any shape, values within 0.2 ... 0.9
  bool differentiable = true;                 ///< smoothly on these values
  bool needsElements = false;                 ///< an error on an empty tensor
  int64_t leastRank = 0;
};

/// Options for tensors that an operation makes beside its argument.
inline TensorOptions on(const Tensor& x) {
  TensorOptions o;
  o.device = x.device();
  return o;
}
inline Tensor half(const Tensor& x) {
  return Tensor::full(x.shape(), ConstValue::ofFloat(0.5), on(x));
}
inline Tensor firstAxisSum(const Tensor& t) {
  return t.sum(std::vector<int64_t>{0});
}

inline const std::vector<Operation>& operations() {
  using T = const Tensor&;
  constexpr bool kFlat = false; ///< no gradient, or one that is 0 almost everywhere
  static const std::vector<Operation> all{
      // elementwise
      {"neg", [](T x) { return x.neg(); }},
      {"add", [](T x) { return x + x; }},
      {"sub", [](T x) { return x - x * 3; }},
      {"mul", [](T x) { return x * x; }},
      {"div", [](T x) { return x / (x + 1); }},
      {"pow", [](T x) { return x.pow(Operand(2.5)); }},
      {"pow of x", [](T x) { return x.pow(x); }},
      {"power to x", [](T x) { return x.pow(Operand(2.0), true); }},
      {"maximum", [](T x) { return x.maximum(x * x + 0.13); }},
      {"minimum", [](T x) { return x.minimum(x * x + 0.13); }},
      {"where", [](T x) { return x.lt(Operand(0.5)).where(x * 2, x * x); }},
      {"reciprocal", [](T x) { return x.reciprocal(); }},
      {"sqrt", [](T x) { return x.sqrt(); }},
      {"rsqrt", [](T x) { return x.rsqrt(); }},
      {"exp", [](T x) { return x.exp(); }},
      {"exp2", [](T x) { return x.exp2(); }},
      {"log", [](T x) { return x.log(); }},
      {"log2", [](T x) { return x.log2(); }},
      {"log10", [](T x) { return x.log10(); }},
      {"sin", [](T x) { return x.sin(); }},
      {"cos", [](T x) { return x.cos(); }},
      {"tan", [](T x) { return x.tan(); }},
      {"abs", [](T x) { return (x - 0.05).abs(); }},
      {"square", [](T x) { return x.square(); }},
      {"clamp", [](T x) { return x.clamp(Operand(0.0), Operand(5.0)); }},
      {"lerp", [](T x) { return x.lerp(x * x, Operand(0.3)); }},
      {"logaddexp", [](T x) { return x.logaddexp(Operand(x * x)); }},
      {"copysign", [](T x) { return x.copysign(Operand(-1.0)); }},
      {"isclose", [](T x) { return x.isclose(x); }, kFlat},
      {"trunc", [](T x) { return (x * 7).trunc(); }, kFlat},
      {"floor", [](T x) { return (x * 7).floor(); }, kFlat},
      {"ceil", [](T x) { return (x * 7).ceil(); }, kFlat},
      {"round", [](T x) { return (x * 7).round(); }, kFlat},
      {"sign", [](T x) { return x.sign(); }, kFlat},
      {"isnan", [](T x) { return x.isnan(); }, kFlat},
      {"isinf", [](T x) { return x.isinf(); }, kFlat},
      {"isfinite", [](T x) { return x.isfinite(); }, kFlat},
      {"compare", [](T x) { return x.lt(Operand(0.5)).bitXor(x.ge(Operand(0.7))); }, kFlat},
      {"logical_not", [](T x) { return x.logicalNot(); }, kFlat},
      {"cast", [](T x) { return x.cast(dtypes::float64).cast(dtypes::float32); }},
      {"cast to int", [](T x) { return (x * 9).cast(dtypes::int32); }, kFlat},
      {"bitcast", [](T x) { return x.bitcast(dtypes::int32); }, kFlat},
      {"half", [](T x) { return x.cast(dtypes::float16) + 1; }, kFlat},
      {"bfloat16", [](T x) { return x.cast(dtypes::bfloat16) * 2; }, kFlat},
      {"int division", [](T x) { return (x * 90).cast(dtypes::int32).idiv(Operand(7)); }, kFlat},
      {"int modulo", [](T x) { return (x * 90).cast(dtypes::int32).mod(Operand(-7)); }, kFlat},
      {"shift", [](T x) { return (x * 90).cast(dtypes::uint32).lshift(3).rshift(1); }, kFlat},
      {"bitwise",
       [](T x) { return (x * 90).cast(dtypes::int8).bitAnd(Operand(12)).bitOr(Operand(1)).bitNot(); }, kFlat},
      // activations
      {"relu", [](T x) { return (x - 0.05).relu(); }},
      {"relu6", [](T x) { return x.relu6(); }},
      {"sigmoid", [](T x) { return x.sigmoid(); }},
      {"tanh", [](T x) { return x.tanh(); }},
      {"gelu", [](T x) { return x.gelu(); }},
      {"quick_gelu", [](T x) { return x.quickGelu(); }},
      {"silu", [](T x) { return x.silu(); }},
      {"elu", [](T x) { return x.elu(); }},
      {"celu", [](T x) { return x.celu(); }},
      {"selu", [](T x) { return x.selu(); }},
      {"mish", [](T x) { return x.mish(); }},
      {"softplus", [](T x) { return x.softplus(); }},
      {"softsign", [](T x) { return x.softsign(); }},
      {"logsigmoid", [](T x) { return x.logsigmoid(); }},
      {"hardsigmoid", [](T x) { return x.hardsigmoid(); }},
      {"hardswish", [](T x) { return x.hardswish(); }},
      {"hardtanh", [](T x) { return x.hardtanh(); }},
      {"leaky_relu", [](T x) { return x.leakyRelu(); }},
      {"asin", [](T x) { return x.asin(); }},
      {"acos", [](T x) { return x.acos(); }},
      {"atan", [](T x) { return x.atan(); }},
      {"sinh", [](T x) { return x.sinh(); }},
      {"cosh", [](T x) { return x.cosh(); }},
      {"asinh", [](T x) { return x.asinh(); }},
      {"acosh", [](T x) { return (x + 1).acosh(); }},
      {"atanh", [](T x) { return x.atanh(); }},
      {"erf", [](T x) { return x.erf(); }},
      // movement
      {"reshape", [](T x) { return x.reshape({Sint(x.intNumel()), Sint(1)}); }},
      {"flatten", [](T x) { return x.flatten(); }},
      {"unsqueeze expand",
       [](T x) {
         return x.unsqueeze(0).expand([&] {
           Shape s{Sint(3)};
           s.insert(s.end(), x.shape().begin(), x.shape().end());
           return s;
         }());
       }},
      {"permute",
       [](T x) {
         Ints o;
         for (int64_t i = x.ndim(); i-- > 0;) o.push_back(i);
         return x.permute(o);
       }},
      {"flip", [](T x) { return x.flip({0}); }, true, false, 1},
      {"pad", [](T x) { return x.pad(Bounds(size_t(x.ndim()), {Sint(1), Sint(2)})); }},
      {"pad and shrink",
       [](T x) {
         return x.pad(Bounds(size_t(x.ndim()), {Sint(1), Sint(0)}))
             .pad(Bounds(size_t(x.ndim()), {Sint(0), Sint(-1)}));
       }},
      {"repeat", [](T x) { return x.repeat(Ints(size_t(x.ndim()), 2)); }, true, false, 1},
      {"repeat_interleave", [](T x) { return x.repeatInterleave(2, 0); }, true, false, 1},
      {"cat", [](T x) { return Tensor::cat({x, x * 2, x}, 0); }, true, false, 1},
      {"stack", [](T x) { return Tensor::stack({x, x * 2}, 0); }},
      {"split", [](T x) { return x.splitEvery(2, 0)[0] * 2; }, true, true, 1},
      {"chunk", [](T x) { return x.chunk(1, 0)[0] * 2; }, true, true, 1},
      {"roll", [](T x) { return x.roll({1}, Ints{0}); }, true, false, 1},
      {"tril", [](T x) { return x.tril(); }, true, false, 2},
      {"triu", [](T x) { return x.triu(1); }, true, false, 2},
      {"unfold", [](T x) { return x.unfold(0, 1, 1); }, true, true, 1},
      {"slice backwards", [](T x) { return x.get({Index::slice({}, {}, -2)}); }, true, false, 1},
      {"first", [](T x) { return x.get({Index::of(Sint(0))}); }, true, true, 1},
      {"diagonal", [](T x) { return x.flatten().diag().diagonal(); }},
      {"contiguous", [](T x) { return x.contiguous() * 2; }},
      {"contiguous_backward", [](T x) { return x.contiguousBackward() * 2; }},
      // reductions
      {"sum", [](T x) { return x.sum(); }},
      {"sum of axis", [](T x) { return firstAxisSum(x * x); }, true, false, 1},
      {"prod", [](T x) { return x.prod(); }},
      {"max", [](T x) { return x.max(); }, true, true},
      {"min of axis", [](T x) { return x.min(std::vector<int64_t>{-1}); }, true, true, 1},
      {"mean", [](T x) { return x.mean(); }, true, true},
      {"var", [](T x) { return x.var({}, false, 0); }, true, true},
      {"std",
       [](T x) { return (x + Tensor::arange(x.intNumel(), on(x)).reshape(x.shape())).std({}, false, 0); },
       true, true},
      {"any", [](T x) { return x.lt(Operand(0.5)).any(); }, kFlat},
      {"all", [](T x) { return x.lt(Operand(0.5)).all(); }, kFlat},
      {"softmax", [](T x) { return x.softmax() * x; }, true, true, 1},
      {"log_softmax", [](T x) { return x.logSoftmax(); }, true, true, 1},
      {"logsumexp", [](T x) { return x.logsumexp(); }, true, true},
      {"logcumsumexp", [](T x) { return x.logcumsumexp(0); }, true, true, 1},
      {"argmax", [](T x) { return x.argmax(); }, kFlat, true},
      {"argmin", [](T x) { return x.argmin(0); }, kFlat, true, 1},
      {"cumsum", [](T x) { return x.cumsum(0); }, true, false, 1},
      {"cumprod", [](T x) { return x.cumprod(0); }, true, true, 1},
      {"cummax", [](T x) { return x.cummax(0).first; }, true, true, 1},
      {"layernorm", [](T x) { return x.layernorm() * x; }, true, true, 1},
      // products
      {"dot", [](T x) { return x.matmul(x.transpose(-1, -2)); }, true, false, 2},
      {"einsum", [](T x) { return Tensor::einsum("ij,ij->j", {x, x}); }, true, false, 2},
      {"linear", [](T x) { return x.linear(Tensor::ones({x.shape().back(), Sint(3)}, on(x))); }, true, false,
       1},
      // indexing
      {"index by tensor", [](T x) { return x.get({Index::of(Tensor::from<int32_t>({0, 0}, {2}, on(x)))}); },
       true, true, 1},
      {"gather", [](T x) { return x.gather(0, x.cast(dtypes::int32)); }, true, true, 1},
      {"one_hot", [](T x) { return (x * 5).cast(dtypes::int32).oneHot(5); }, kFlat},
      {"sort", [](T x) { return x.sort(0).first * x; }, true, true, 1},
      {"topk", [](T x) { return x.topk(1, 0).first; }, true, true, 1},
      {"scatter", [](T x) { return x.scatter(0, x.cast(dtypes::int32), Operand(x * 2)); }, kFlat, true, 1},
      // losses
      {"binary_crossentropy", [](T x) { return x.binaryCrossentropy(half(x)); }, true, true},
      {"binary_crossentropy_logits", [](T x) { return x.binaryCrossentropyLogits(half(x)); }, true, true},
  };
  return all;
}

} // namespace uopscope::testing
