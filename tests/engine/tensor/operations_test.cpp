// Every operation on empty tensors, on dimensions of 1 and on odd shapes, CPU against the reference
// interpreter; and its gradient against finite differences.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "tests/engine/tensor/operations.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

int64_t countOf(const Ints& shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}
/// Distinct values within 0.2 ... 0.9, in mixed order.
std::vector<double> valuesFor(const Ints& shape) {
  std::vector<double> v;
  int64_t n = countOf(shape);
  for (int64_t i = 0; i < n; ++i)
    v.push_back(0.2 + 0.7 * static_cast<double>((i * 7 + 3) % std::max<int64_t>(n, 1)) /
                          static_cast<double>(std::max<int64_t>(n, 1)));
  return v;
}
Tensor tensorOf(const std::vector<double>& values, const Ints& shape, const std::string& device,
                DType d = dtypes::float32) {
  TensorOptions o;
  o.device = device;
  o.dtype = d;
  return Tensor::fromDoubles(values, shape, o);
}

const std::vector<Ints> kShapes{{0},    {0, 3}, {3, 0}, {2, 0, 3}, {},  {1},
                                {1, 1}, {1, 5}, {5, 1}, {1, 3, 1}, {7}, {3, 5}};

/// Sets the default device too, where operations make constants of their own.
std::vector<double> resultOn(const Operation& op, const Ints& shape, const std::string& device, Shape& got) {
  Tensor y = op.apply(tensorOf(valuesFor(shape), shape, device));
  got = y.shape();
  return y.doubles();
}

} // namespace

TEST_CASE("every operation takes empty tensors and dimensions of 1") {
  ContextScope settings({{"SPEC", 1}, {"IGNORE_OOB", 0}});
  for (const Operation& op : operations())
    for (const Ints& shape : kShapes) {
      if (static_cast<int64_t>(shape.size()) < op.leastRank || (op.needsElements && countOf(shape) == 0))
        continue;
      if (op.name == "einsum" && shape.size() != 2) continue;
      std::string what = fmt::format("{} of ({})", op.name, fmt::join(shape, ", "));
      try {
        Shape cpuShape, refShape;
        std::vector<double> cpu = resultOn(op, shape, "CPU", cpuShape);
        std::vector<double> reference = resultOn(op, shape, "REF", refShape);
        CHECK_MESSAGE(cpuShape == refShape, what);
        REQUIRE_MESSAGE(cpu.size() == reference.size(), what);
        for (size_t i = 0; i < cpu.size(); ++i) {
          bool same = (std::isnan(cpu[i]) && std::isnan(reference[i])) || cpu[i] == reference[i] ||
                      std::abs(cpu[i] - reference[i]) <= 2e-3 * std::max(0.01, std::abs(reference[i]));
          CHECK_MESSAGE(same, what, ": element ", i, " is ", cpu[i], " instead of ", reference[i]);
        }
      } catch (const Error& e) {
        FAIL_CHECK(what << ": " << std::string(e.what()));
      }
    }
}

TEST_CASE("gradients are what finite differences say") {
  const Ints shape{2, 3};
  const double step = 1e-6;
  std::vector<double> at = valuesFor(shape);
  // With weights, the sum of a normalised result (softmax) depends on its argument.
  auto total = [](const Operation& op, const Tensor& x) {
    Tensor y = op.apply(x);
    std::vector<double> w;
    for (int64_t i = 0; i < y.intNumel(); ++i) w.push_back(1 + 0.37 * static_cast<double>(i % 5));
    return (y.cast(dtypes::float64) * tensorOf(w, y.intShape(), "CPU", dtypes::float64)).sum();
  };
  for (const Operation& op : operations()) {
    // In float32 a difference of 1e-6 is invisible.
    if (!op.differentiable || op.name == "cast") continue;
    try {
      Tensor x = tensorOf(at, shape, "CPU", dtypes::float64);
      std::vector<double> got = total(op, x).gradient({x})[0].doubles();
      std::vector<double> wanted;
      for (size_t i = 0; i < at.size(); ++i) {
        auto moved = [&](double by) {
          std::vector<double> v = at;
          v[i] += by;
          return total(op, tensorOf(v, shape, "CPU", dtypes::float64)).doubles()[0];
        };
        wanted.push_back((moved(step) - moved(-step)) / (2 * step));
      }
      for (size_t i = 0; i < at.size(); ++i)
        CHECK_MESSAGE(std::abs(got[i] - wanted[i]) <= 2e-4 * std::max(1.0, std::abs(wanted[i])), op.name,
                      ": gradient ", i, " is ", got[i], " instead of ", wanted[i]);
    } catch (const Error& e) {
      FAIL_CHECK(op.name << ": " << e.what());
    }
  }
}

TEST_CASE("gradients of empty tensors are empty") {
  for (const Operation& op : operations()) {
    if (!op.differentiable || op.needsElements) continue;
    try {
      Tensor x = tensorOf({}, {3, 0}, "CPU");
      Tensor g = op.apply(x).sum().gradient({x}, {}, true)[0];
      CHECK_MESSAGE((g.intShape() == Ints{3, 0}), op.name);
      CHECK_MESSAGE(g.doubles().empty(), op.name);
    } catch (const Error& e) {
      FAIL_CHECK(op.name << ": " << e.what());
    }
  }
}

TEST_CASE("one value read in the same words at two places") {
  // A cast for a comparison, and a cast for a sum over an index. Without its reshape the second prints like
  // the first, which runs over different loops.
  Tensor bit = tensorOf({1}, {1}, "CPU", dtypes::bool_), two = Tensor::stack({bit, bit}, 0);
  Tensor rows = Tensor::from<int32_t>({1, 0, 1, 1}, {2, 2}),
         cols = Tensor::from<int32_t>({0, 0, 0, 0}, {2, 2});
  Tensor chosen = two.lt(Operand(2)).where(two, tensorOf({0.5}, {1}, "CPU"));
  Tensor picked = two.get({Index::of(rows), Index::of(cols)}) + 0;
  Tensor::realize({chosen, picked});
  CHECK(chosen.doubles() == std::vector<double>{1, 1});
  CHECK(picked.doubles() == std::vector<double>{1, 1, 1, 1});
}

TEST_CASE("stacked and concatenated stores of every length") {
  ContextScope settings({{"SPEC", 1}, {"IGNORE_OOB", 0}});
  for (int64_t n = 1; n <= 64; ++n) {
    std::vector<Tensor> scalars, rows;
    std::vector<double> wantedStack, wantedCat;
    for (int64_t i = 0; i < n; ++i) {
      auto v = static_cast<double>(i * 3 % 17);
      scalars.push_back(tensorOf({v}, {}, "CPU") + 1);
      rows.push_back(tensorOf({v, v + 0.5}, {2}, "CPU") * 2);
      wantedStack.push_back(v + 1);
      wantedCat.insert(wantedCat.end(), {2 * v, 2 * v + 1});
    }
    CHECK_MESSAGE(Tensor::stack(scalars).doubles() == wantedStack, n);
    CHECK_MESSAGE(Tensor::cat(rows).doubles() == wantedCat, n);
    // Parts of different sizes side by side along the last axis.
    Tensor wide = tensorOf(valuesFor({3, n}), {3, n}, "CPU", dtypes::float64);
    std::vector<double> both =
        Tensor::cat({wide, wide + 1, wide.get({Index::all(), Index::slice({}, Sint(1))})}, 1).doubles();
    std::vector<double> base = wide.doubles();
    auto width = static_cast<size_t>(2 * n + 1);
    REQUIRE(both.size() == 3 * width);
    bool right = true;
    for (size_t r = 0; r < 3; ++r)
      for (size_t c = 0; c < width; ++c) {
        auto m = static_cast<size_t>(n);
        double wanted = c < m ? base[r * m + c] : c < 2 * m ? base[r * m + c - m] + 1 : base[r * m];
        right &= both[r * width + c] == wanted;
      }
    CHECK_MESSAGE(right, "cat of width ", n);
  }
}
