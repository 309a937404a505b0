// The list of programs. Shapes are small, since the reference computes a value one element at a time.
#include "engine/prove/programs.h"

#include "engine/uop/eval.h"

#include <random>

namespace uopscope::prove {

namespace {

TensorOptions of(DType d) {
  TensorOptions o;
  o.dtype = d;
  return o;
}
/// Numbers of a type, the same for the same seed: small, some negative, with fractions for floats.
Tensor some(const Ints& shape, DType d = dtypes::float32, uint32_t seed = 1) {
  std::mt19937 random(seed);
  int64_t n = 1;
  for (int64_t s : shape) n *= s;
  std::vector<double> v;
  for (int64_t i = 0; i < n; ++i) {
    double x = static_cast<double>(random() % 33) - (d.isUnsigned() || d.isBool() ? 0 : 16);
    v.push_back(d.isFloat() ? x / 8 : d.isBool() ? static_cast<double>(random() % 2) : x);
  }
  return Tensor::fromDoubles(v, shape, of(d)).realize();
}
using Made = std::vector<Tensor>;

/// Inputs for gradients: doubles, so that difference quotients are exact enough, and no two equal.
Tensor exact(const Ints& shape, uint32_t seed = 1) {
  Tensor x = some(shape, dtypes::float64, seed);
  return (x + (Tensor::arange(x.intNumel()).cast(dtypes::float64).reshape(x.shape()) + 0.37 * seed) * 0.01)
      .realize();
}

constexpr TensorProgram kPrograms[] = {
    {"arithmetic",
     [] {
       Tensor a = some({4, 6}), b = some({4, 6}, dtypes::float32, 2);
       return Made{(a * b + a - b) / (b * b + 1.0)};
     }},
    {"product", [] { return Made{some({12, 16}).matmul(some({16, 8}, dtypes::float32, 2)).relu()}; }},
    {"product with a long epilogue",
     [] { return Made{some({64, 32}).matmul(some({32, 64}, dtypes::float32, 2)).tanh()}; }},
    {"sum whose rows repeat",
     [] {
       return Made{
           some({8192, 1}).transpose().reshape({1, 1, 8192}).expand({1, 90, 8192}).mul(3).sum(Ints{2})};
     }},
    {"sum along columns of large memory", [] { return Made{some({258, 1024}).relu().sum(Ints{0}) * 2}; }},
    {"product of bfloat16s",
     [] {
       return Made{some({32, 35}, dtypes::bfloat16)
                       .matmul(some({35, 16}, dtypes::bfloat16, 2), false, dtypes::float32)};
     }},
    {"product of bytes",
     [] {
       Tensor x = some({32, 66}, dtypes::int8), y = some({66, 16}, dtypes::uint8, 2);
       return Made{x.cast(dtypes::int32).matmul(y.cast(dtypes::int32))};
     }},
    {"large product", [] { return Made{some({64, 64}).matmul(some({64, 64}, dtypes::float32, 2))}; }},
    {"product of transposed",
     [] { return Made{some({48, 40}).transpose().matmul(some({48, 32}, dtypes::float32, 2))}; }},
    {"product of halves",
     [] {
       return Made{some({16, 16}, dtypes::float16)
                       .matmul(some({16, 16}, dtypes::float16, 2), false, dtypes::float32)};
     }},
    {"large product of halves",
     [] {
       return Made{some({64, 64}, dtypes::float16)
                       .matmul(some({64, 64}, dtypes::float16, 2), false, dtypes::float32)};
     }},
    {"product of halves of many terms",
     [] {
       return Made{some({64, 192}, dtypes::float16)
                       .matmul(some({192, 64}, dtypes::float16, 2), false, dtypes::float32)};
     }},
    {"product of many blocks",
     [] {
       return Made{some({64, 32}, dtypes::float16)
                       .matmul(some({32, 128}, dtypes::float16, 2), false, dtypes::float32)};
     }},
    {"convolution",
     [] {
       return Made{some({1, 2, 8, 8}).conv2d(some({3, 2, 3, 3}, dtypes::float32, 2), {}, 1, {1}, {1}, {1})};
     }},
    {"strided convolution",
     [] {
       return Made{some({1, 4, 9, 9}).conv2d(some({4, 2, 3, 3}, dtypes::float32, 2), {}, 2, {2}, {1}, {1})};
     }},
    {"softmax", [] { return Made{some({5, 12}).softmax()}; }},
    {"rows of bfloat16s by a number each",
     [] { return Made{some({6, 64}, dtypes::bfloat16) / some({6, 1}, dtypes::bfloat16, 2)}; }},
    {"layer norm", [] { return Made{some({6, 16}).layernorm()}; }},
    {"variance", [] { return Made{some({7, 9}).var(std::vector<int64_t>{0}), some({7, 9}).std()}; }},
    {"sums by index",
     [] {
       Tensor hit = Tensor::arange(20).reshape({20, 1}).eq(some({1, 30}, dtypes::int32));
       return Made{hit.cast(dtypes::float32).mul(some({1, 30})).sum(Ints{1})};
     }},
    {"running sum", [] { return Made{some({40}).cumsum(), some({6, 20}, dtypes::int32).cumsum(1)}; }},
    {"running maximum",
     [] {
       auto [v, i] = some({24}, dtypes::int32).cummax();
       return Made{v, i};
     }},
    {"running sum from the end",
     [] {
       Tensor x = some({3, 20}), weights = some({3, 20});
       x = x.setRequiresGrad();
       return Made{x.cumsum(1).mul(weights).sum().gradient({x})[0]};
     }},
    {"sums by index on top of values",
     [] {
       Tensor hit = Tensor::arange(20).reshape({20, 1}).eq(some({1, 30}, dtypes::int32));
       return Made{hit.where(some({1, 30}), 0).sum(Ints{1}).add(some({20}))};
     }},
    {"elements set by a list",
     [] {
       Tensor at = some({50, 3}, dtypes::int32, 3); // some name no element
       return Made{some({24, 3}).scatter(0, at, Operand(some({50, 3}, dtypes::float32, 2)))};
     }},
    {"arg max", [] { return Made{some({5, 11}).argmax(1), some({30}, dtypes::int32).argmin()}; }},
    {"sorting",
     [] {
       auto [v, i] = some({13}).sort();
       return Made{v, i};
     }},
    {"top k",
     [] {
       auto [v, i] = some({3, 9}, dtypes::int32).topk(3);
       return Made{v, i};
     }},
    {"gather",
     [] {
       Tensor i = some({5}, dtypes::uint8, 3).cast(dtypes::int32).bitAnd(7);
       return Made{some({8, 4}).get({Index::of(i.realize())})};
     }},
    {"one hot",
     [] {
       return Made{some({6}, dtypes::uint8)
                       .bitAnd(7)
                       .cast(dtypes::int32)
                       .oneHot(8)
                       .matmul(some({8, 3}, dtypes::int32, 2))};
     }},
    {"padding",
     [] {
       return Made{some({4, 5}).pad({{1, 2}, {0, 3}}), some({6}).pad({{2, 1}}, ConstValue::ofFloat(3))};
     }},
    {"joining", [] { return Made{Tensor::cat({some({3, 4}), some({2, 4}, dtypes::float32, 2)}, 0) * 2.0}; }},
    {"joining long",
     [] {
       Tensor a = some({64}), b = some({40}, dtypes::float32, 2);
       return Made{Tensor::cat({a.exp2(), (b * b + 1.0).sqrt()})};
     }},
    {"turning",
     [] {
       return Made{some({4, 6}).flip({0, 1}).permute({1, 0}).contiguous(),
                   some({2, 3, 4}).permute({2, 0, 1}).reshape({4, 6}).flip({1}) + 1.0};
     }},
    {"windows",
     [] { return Made{some({1, 1, 8, 8}).maxPool2d().first, some({1, 1, 8, 8}).avgPool2d({3, 3}, {1, 1})}; }},
    {"cutting",
     [] {
       Tensor x = some({9, 9});
       return Made{x.shrink({{{2, 7}}, {{1, 9}}}) + x.shrink({{{0, 5}}, {{0, 8}}})};
     }},
    {"rolling", [] { return Made{some({10}).roll({3}), some({4, 4}).tril(), some({4, 4}).triu(1)}; }},
    {"integer division",
     [] {
       Tensor x = some({40}, dtypes::int32) * 1000;
       return Made{x.idiv(7), x.mod(12), x.idiv(8), x.mod(16), x.idiv(10)};
     }},
    {"integer division of others",
     [] {
       Tensor x = some({40}, dtypes::uint32) * 77, y = some({40}, dtypes::int64) * 123456789;
       return Made{x.idiv(6),
                   x.mod(10),
                   y.idiv(1000),
                   y.mod(7),
                   some({20}, dtypes::uint8).idiv(3),
                   some({20}, dtypes::int8).mod(5)};
     }},
    {"division by numbers of a tensor",
     [] {
       Tensor x = some({40}, dtypes::int32), y = some({40}, dtypes::int32, 2).square() + 1;
       return Made{x.idiv(y), x.mod(y)};
     }},
    {"bits",
     [] {
       Tensor x = some({20}, dtypes::int32), y = some({20}, dtypes::int32, 2);
       Tensor u = x.square().cast(dtypes::uint32);
       return Made{x.bitAnd(y), x.bitOr(y),  x.bitXor(y),   x.bitNot(),
                   u.lshift(3), u.rshift(2), (x * 8).mul(4)};
     }},
    {"truth",
     [] {
       Tensor a = some({16}, dtypes::bool_), b = some({16}, dtypes::bool_, 2);
       return Made{a.bitAnd(b), a.bitOr(b), a.bitXor(b), a.logicalNot(), a.ne(b), a.any(), b.all()};
     }},
    {"choices",
     [] {
       Tensor x = some({20}), c = x.lt(0.5);
       return Made{c.where(x, -1.0) + c.where(2.0, x), c.logicalNot().where(x, 0.0),
                   x.clamp(Operand(-1.0), Operand(1.0)), x.maximum(0.25).minimum(1.5)};
     }},
    {"functions",
     [] {
       Tensor x = some({24});
       return Made{x.exp2(),       (x.abs() + 0.5).log2(), x.sin(),   x.cos(),
                   x.abs().sqrt(), (x + 9.0).reciprocal(), x.trunc(), x.sigmoid(),
                   x.tanh(),       x.exp().sub(1.0, true)};
     }},
    {"functions of doubles",
     [] {
       Tensor x = some({16}, dtypes::float64);
       return Made{x.exp2(), (x.abs() + 0.5).log2(), x.sin(), x.cos(), x.abs().sqrt(), x.trunc()};
     }},
    {"powers",
     [] {
       Tensor x = some({16}).abs() + 0.25;
       return Made{x.pow(3), x.pow(0.5), x.pow(-2), x.pow(2, true), x.pow(some({16}, dtypes::float32, 2))};
     }},
    {"small floats",
     [] {
       Tensor x = some({16}, dtypes::float16), y = some({16}, dtypes::bfloat16);
       return Made{x * x + 1.0, y + 0.5, y.cast(dtypes::float16) * x, x.exp2()};
     }},
    {"tiny floats",
     [] {
       Tensor x = some({16}, dtypes::fp8e4m3), y = some({16}, dtypes::fp8e5m2);
       return Made{x.cast(dtypes::float32) * 2.0, y.cast(dtypes::float32) + 1.0,
                   some({16}).cast(dtypes::fp8e4m3), x * x, x.bitcast(dtypes::uint8)};
     }},
    {"conversions",
     [] {
       Tensor x = some({20});
       return Made{x.cast(dtypes::int32),
                   x.cast(dtypes::bool_),
                   x.cast(dtypes::float16).cast(dtypes::float32),
                   some({9}, dtypes::int32).cast(dtypes::int64) * 3,
                   some({8}, dtypes::uint8).cast(dtypes::int8),
                   x.bitcast(dtypes::int32)};
     }},
    {"counting",
     [] {
       return Made{Tensor::arange(24).reshape({4, 6}) * 2 + 1, Tensor::arange(int64_t{10}).idiv(3),
                   Tensor::eye(5)};
     }},
    {"random words", [] { return Made{some({8}, dtypes::uint64).threefry(some({8}, dtypes::uint64, 2))}; }},
    {"long sum", [] { return Made{some({40000}).sum(), some({3, 9000}).max(std::vector<int64_t>{1})}; }},
    {"sums of integers",
     [] {
       Tensor x = some({6, 7}, dtypes::int32);
       return Made{x.sum(), x.prod(std::vector<int64_t>{1}), x.max(std::vector<int64_t>{0}),
                   some({5}, dtypes::bool_).sum()};
     }},
    {"factor of a sum",
     [] {
       Tensor x = some({5, 8}), s = some({5, 1}, dtypes::float32, 2);
       return Made{(x * s).sum(std::vector<int64_t>{1}), (x * 3.0).max(std::vector<int64_t>{1})};
     }},
    {"two results",
     [] {
       Tensor x = some({6, 6}), y = x * 2.0;
       return Made{y + 1.0, y.sum(std::vector<int64_t>{0})};
     }},
    {"reused value",
     [] {
       Tensor x = some({8, 8}), y = x.matmul(x);
       return Made{y / y.max(std::vector<int64_t>{1}, true).maximum(1.0)};
     }},
    {"attention",
     [] {
       return Made{some({1, 2, 6, 8})
                       .scaledDotProductAttention(some({1, 2, 6, 8}, dtypes::float32, 2),
                                                  some({1, 2, 6, 8}, dtypes::float32, 3), {}, 0, true)};
     }},
    {"attention over blocks of keys",
     [] {
       return Made{some({1, 1, 64, 4})
                       .scaledDotProductAttention(some({1, 1, 70, 4}, dtypes::float32, 2),
                                                  some({1, 1, 70, 3}, dtypes::float32, 3), {}, 0, true)};
     }},
    {"nothing",
     [] {
       return Made{Tensor::zeros({0, 3}).sum(std::vector<int64_t>{0}) + 1.0,
                   some({3}).shrink({{{1, 1}}}).sum()};
     }},
    {"constants",
     [] {
       return Made{Tensor::full({3, 4}, ConstValue::ofFloat(2.5)) + 1.0, Tensor::ones({6}).sum(),
                   Tensor::full({2, 3}, ConstValue::ofInt(7), of(dtypes::int32)).expand({2, 3}).contiguous()};
     }},
    {"updates",
     [] {
       Tensor x = some({8, 4}).clone().realize();
       x.set({Index::slice(Sint(1), Sint(3))}, Operand(5.0));
       return Made{x + 1.0};
     }},
    {"markers",
     [] {
       Tensor x = some({6});
       return Made{x.detach() + x.contiguous().contiguousBackward() * 2.0};
     }},
};

constexpr GradientProgram kGradients[] = {
    {"arithmetic",
     [] {
       Tensor a = exact({6}), b = (exact({6}, 2).square() + 1.0).realize();
       return Differentiated{a * b + a.alu(Op::FDIV, {b}) - b.reciprocal(), {a, b}};
     }},
    {"functions",
     [] {
       Tensor x = (exact({12}).abs() + 0.5).realize();
       return Differentiated{x.exp2() + x.log2() + x.sin() + x.sqrt() + x.pow(1.5), {x}};
     }},
    {"choices",
     [] {
       Tensor x = exact({12}), y = exact({12}, 2);
       return Differentiated{x.lt(y).where(x * 2.0, y) + x.maximum(y) + x.lt(y).cast(dtypes::float64),
                             {x, y}};
     }},
    {"shapes",
     [] {
       Tensor x = exact({3, 4});
       return Differentiated{
           x.permute({1, 0}).reshape({2, 6}).pad({{0, 1}, {1, 0}}).flip({0}).shrink({{{0, 2}}, {{1, 7}}}) *
               x.reshape({1, 12}).expand({2, 12}).shrink({{}, {{0, 6}}}),
           {x}};
     }},
    {"reductions",
     [] {
       Tensor x = exact({4, 5});
       return Differentiated{x.sum(std::vector<int64_t>{1}) + x.max(std::vector<int64_t>{1}) +
                                 (x * 0.25 + 1.0).prod(std::vector<int64_t>{1}),
                             {x}};
     }},
    {"markers",
     [] {
       Tensor x = exact({6});
       return Differentiated{x.contiguous() + x.contiguousBackward() + (x * 2.0).cast(dtypes::float64), {x}};
     }},
    {"conversions",
     [] {
       Tensor x = exact({6});
       return Differentiated{x.cast(dtypes::float32).cast(dtypes::float64) * x, {x}};
     }},
    {"product",
     [] {
       Tensor a = exact({4, 5}), b = exact({5, 3}, 2);
       return Differentiated{a.matmul(b), {a, b}};
     }},
    {"convolution",
     [] {
       Tensor x = exact({1, 2, 5, 4}), w = exact({3, 2, 3, 2}, 2);
       return Differentiated{x.conv2d(w, {}, 1, {1}, {1}, {1}, {}), {x, w}};
     }},
};

} // namespace

std::span<const TensorProgram> tensorPrograms() {
  return kPrograms;
}
std::span<const GradientProgram> gradientPrograms() {
  return kGradients;
}

} // namespace uopscope::prove
