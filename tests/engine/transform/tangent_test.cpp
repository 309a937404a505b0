// Forward and reverse derivatives of each operation, against central differences in float64.
#include "engine/tensor/operation_scope.h"
#include "engine/tensor/tensor.h"
#include "engine/tensor/tensor_memory.h"
#include "engine/transform/tangent.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace uopscope;

namespace {

using Function = Tensor (*)(const Tensor&, const Tensor&);
struct TangentCase {
  const char* name;
  Function f;
};

const std::vector<double> kX{0.3, 1.7, -0.6, 2.2}, kY{1.4, 0.9, 0.8, -1.1};
const std::vector<double> kDx{1.0, -2.0, 0.5, 3.0}, kDy{0.25, 1.0, -1.5, 2.0};

// Where a function needs a positive operand it gets its square or its exponential.
const TangentCase kTangentCases[] = {
    {"sum", [](const Tensor& x, const Tensor& y) { return x.add(y); }},
    {"difference", [](const Tensor& x, const Tensor& y) { return x.sub(y); }},
    {"product", [](const Tensor& x, const Tensor& y) { return x.mul(y); }},
    {"quotient", [](const Tensor& x, const Tensor& y) { return x.div(y); }},
    {"maximum", [](const Tensor& x, const Tensor& y) { return x.maximum(y); }},
    {"power", [](const Tensor& x, const Tensor& y) { return x.mul(x).pow(y); }},
    {"reciprocal", [](const Tensor& x, const Tensor& y) { return x.reciprocal().mul(y); }},
    {"sine", [](const Tensor& x, const Tensor& y) { return x.sin().mul(y.sin()); }},
    {"exponential", [](const Tensor& x, const Tensor& y) { return x.exp2().add(y); }},
    {"logarithm", [](const Tensor& x, const Tensor& y) { return x.mul(x).log2().mul(y); }},
    {"root", [](const Tensor& x, const Tensor& y) { return x.mul(x).add(y.mul(y)).sqrt(); }},
    {"choice", [](const Tensor& x, const Tensor& y) { return x.lt(y).where(x.mul(y), y.neg()); }},
    {"steps", [](const Tensor& x, const Tensor& y) { return x.trunc().mul(y); }},
    {"sums of movement",
     [](const Tensor& x, const Tensor& y) {
       return x.reshape({2, 2}).permute({1, 0}).add(y.reshape({2, 2})).sum(Ints{0}).expand({4, 2});
     }},
};

Tensor of(const std::vector<double>& values) {
  TensorOptions o;
  o.dtype = dtypes::float64;
  return Tensor::fromDoubles(values, {4}, o).realize();
}

std::vector<double> moved(Function f, double t, bool both) {
  std::vector<double> x = kX, y = kY;
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] += t * kDx[i];
    if (both) y[i] += t * kDy[i];
  }
  return f(of(x), of(y)).doubles();
}

} // namespace

TEST_CASE("forward derivatives are central differences") {
  for (const TangentCase& c : kTangentCases)
    for (bool both : {false, true}) {
      CAPTURE(c.name);
      CAPTURE(both);
      Tensor x = of(kX), y = of(kY), dx = of(kDx), dy = of(kDy), z = c.f(x, y);
      UOpMap<UOp> arguments{{x.uop(), dx.uop()}};
      if (both) arguments[y.uop()] = dy.uop();
      std::vector<double> got(z.doubles().size(), 0.0);
      {
        NodesHeld held;
        PoolScope scope(tensorPool());
        Tensor fresh = c.f(x, y);
        std::vector<UOp> values{fresh.uop()};
        UOp tangent = tangents(values, arguments)[0];
        if (tangent) got = Tensor::fromUOp(tangent).doubles();
      }
      constexpr double kStep = 1e-5;
      std::vector<double> above = moved(c.f, kStep, both), below = moved(c.f, -kStep, both);
      REQUIRE(got.size() == above.size());
      for (size_t i = 0; i < got.size(); ++i)
        CHECK(got[i] == doctest::Approx((above[i] - below[i]) / (2 * kStep)).epsilon(1e-5));
    }
}

TEST_CASE("reverse derivatives agree with forward ones") {
  for (const TangentCase& c : kTangentCases) {
    CAPTURE(c.name);
    Tensor x = of(kX), y = of(kY), z = c.f(x, y);
    std::vector<Tensor> gradients = z.sum().gradient({x, y}, {}, true);
    std::vector<double> gx = gradients[0].doubles(), gy = gradients[1].doubles();
    double reverse = 0, forward = 0;
    for (size_t i = 0; i < gx.size(); ++i) reverse += gx[i] * kDx[i] + gy[i] * kDy[i];
    constexpr double kStep = 1e-5;
    std::vector<double> above = moved(c.f, kStep, true), below = moved(c.f, -kStep, true);
    for (size_t i = 0; i < above.size(); ++i) forward += (above[i] - below[i]) / (2 * kStep);
    CHECK(reverse == doctest::Approx(forward).epsilon(1e-5));
  }
}
