// Sums by dot products give what the sums give, whatever the layout, the signs and the number of terms.
#include "engine/base/context_var.h"
#include "engine/codegen/dot_products.h"
#include "engine/render/llvm_renderer.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

Target dotTarget(int lanes = 16) {
  Target t = plainTarget(lanes);
  t.maxVectorLanes = lanes;
  t.tensorCores = dotProducts(true, true);
  return t;
}

struct ProductSizes {
  int64_t rows, columns, terms;
  bool aTransposed = false, bTransposed = false;
};
/// out[i,j] = sum over k of cast(a[i,k]) * cast(b[k,j]); batches of a and b if there are any.
UOp sizedProduct(const ProductSizes& s, DType a, DType b) {
  const DType sum = a.isFloat() ? dtypes::float32 : dtypes::int32;
  UOp i = UOp::range(s.rows, 0), j = UOp::range(s.columns, 1), k = UOp::range(s.terms, 2, AxisType::Reduce);
  UOp left = read(memory(1, s.rows * s.terms, a), s.aTransposed ? k * s.rows + i : i * s.terms + k),
      right = read(memory(2, s.columns * s.terms, b), s.bTransposed ? j * s.terms + k : k * s.columns + j);
  UOp value = (left.cast(sum) * right.cast(sum)).reduce(Op::ADD, std::vector<UOp>{k});
  return kernel({memory(0, s.rows * s.columns, sum).indexed({i * s.columns + j}).store(value).end({i, j})});
}
/// out[i] = sum over k of a[i,k] * b[k]
UOp rowsTimesVector(int64_t rows, int64_t terms, DType a, DType b) {
  const DType sum = a.isFloat() ? dtypes::float32 : dtypes::int32;
  UOp i = UOp::range(rows, 0), k = UOp::range(terms, 1, AxisType::Reduce);
  UOp value =
      read(memory(1, rows * terms, a), i * terms + k).cast(sum) * read(memory(2, terms, b), k).cast(sum);
  return kernel(
      {memory(0, rows, sum).indexed({i}).store(value.reduce(Op::ADD, std::vector<UOp>{k})).end({i})});
}
int64_t dotsOf(const LoweredKernel& k) {
  return std::ranges::count_if(k.uops, [](UOp u) { return isDotProduct(u); });
}

const std::pair<DType, DType> kDotTypes[] = {{dtypes::bfloat16, dtypes::bfloat16},
                                             {dtypes::int8, dtypes::int8},
                                             {dtypes::uint8, dtypes::int8},
                                             {dtypes::int8, dtypes::uint8},
                                             {dtypes::uint8, dtypes::uint8}};

} // namespace

TEST_CASE("a dot product adds the later term first, rounds each sum, and takes denormals for zeros") {
  auto floats = [](std::initializer_list<double> list) {
    std::vector<ConstValue> v;
    for (double x : list) v.push_back(ConstValue::ofFloat(x));
    return v;
  };
  auto dot = [&](std::initializer_list<double> a, std::initializer_list<double> b, double c) {
    return dotProduct(dtypes::float32, floats(a), floats(b), ConstValue::ofFloat(c)).f;
  };
  CHECK(dot({1, 2}, {3, 4}, 5) == 16);
  // 2^24 + 1 + 1: the first 1 is lost, and so is the second.
  CHECK(dot({1, 1}, {1, 1}, 16777216) == 16777216);
  CHECK(dot({-16777216, 1}, {1, 1}, 16777216) == 0);
  CHECK(dot({1, 16777216}, {1, -1}, 16777216) == 1);
  const double denormal = 1e-39, infinity = std::numeric_limits<double>::infinity();
  CHECK(dot({denormal, 0}, {1e30, 0}, 0) == 0);
  CHECK(dot({1e-20, 0}, {1e-19, 0}, 0) == 0);
  CHECK(dot({0, 0}, {0, 0}, denormal) == 0);
  CHECK(dot({infinity, 1}, {2, 1}, 1) == infinity);
  CHECK(std::isnan(dot({infinity, 1}, {0, 1}, 1)));
  CHECK(std::isnan(dot({infinity, -infinity}, {1, 1}, 1)));

  const std::vector<ConstValue> bytes(4, ConstValue::ofInt(255)), most(4, ConstValue::ofInt(127));
  CHECK(dotProduct(dtypes::int32, bytes, most, ConstValue::ofInt(0)).i == 4 * 255 * 127);
  CHECK(dotProduct(dtypes::int32, bytes, most, ConstValue::ofInt(INT32_MAX)).i ==
        int64_t{INT32_MIN} - 1 + 4 * 255 * 127);
}

TEST_CASE("products of every layout, type and number of terms equal the sums that they stand for") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  for (const ProductSizes& s : {ProductSizes{32, 16, 66}, ProductSizes{32, 16, 64, false, true},
                                ProductSizes{32, 128, 69, true, false}, ProductSizes{32, 16, 67, false, true},
                                ProductSizes{41, 16, 66, false, false}})
    for (auto [a, b] : kDotTypes) {
      CAPTURE(s.terms);
      CAPTURE(a.name());
      CAPTURE(b.name());
      LoweredKernel k = checkKernel(sizedProduct(s, a, b), dotTarget(), 3, {}, 1e-5);
      CHECK(dotsOf(k) > 0);
    }
}

TEST_CASE("terms that lie side by side are lanes of dot products") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 2}});
  for (auto [a, b] : kDotTypes)
    for (int64_t terms : {256, 300, 777}) {
      CAPTURE(terms);
      LoweredKernel k = checkKernel(rowsTimesVector(12, terms, a, b), dotTarget(), 3, {}, 1e-5);
      CHECK(dotsOf(k) > 0);
    }
}

TEST_CASE("bytes that all lanes share get the other sign once, as vectors of terms") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  for (DType type : {dtypes::int8, dtypes::uint8})
    for (int64_t terms : {64, 128, 260}) {
      CAPTURE(type.name());
      CAPTURE(terms);
      const LoweredKernel k = checkKernel(sizedProduct({64, 64, terms}, type, type), dotTarget(16), 3);
      CHECK(dotsOf(k) > 0);
      int turned = 0;
      for (UOp u : k.uops) {
        if (!u.is(Op::XOR)) continue;
        ++turned;
        CHECK(u.dtype().count() == 16); // as arithmetic is written
      }
      CHECK(turned == 4);
    }
}

TEST_CASE("dot products are of any width, and as wide as the target's registers") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  for (int lanes : {4, 8, 16})
    for (int64_t upcast : {2, 3, 8, 24}) {
      UOp ast = withOpts(sizedProduct({4, 24, 16}, dtypes::int8, dtypes::uint8),
                         {{OptOp::UPCAST, 1, {upcast}}, {OptOp::TC, 0, {-1, 0, 1}}});
      LoweredKernel k = checkKernel(ast, dotTarget(lanes), 3, {}, 1e-5);
      CHECK(dotsOf(k) > 0);
      for (UOp u : k.uops)
        if (isDotProduct(u)) CHECK(u.dtype().count() <= lanes);
    }
}

TEST_CASE("a sum stays as it is where its numbers are computed, or the user wants each product as written") {
  Pool pool;
  PoolScope scope(pool);
  const ProductSizes s{64, 32, 64};
  auto count = [&](UOp ast) { return dotsOf(lowerKernel(ast, dotTarget())); };
  CHECK(count(sizedProduct(s, dtypes::bfloat16, dtypes::bfloat16)) > 0);
  {
    ContextScope settings({{"TC", 0}});
    CHECK(count(sizedProduct(s, dtypes::bfloat16, dtypes::bfloat16)) == 0);
  }
  {
    ContextScope settings({{"STRICT_FLOAT", 1}});
    CHECK(count(sizedProduct(s, dtypes::bfloat16, dtypes::bfloat16)) == 0);
    CHECK(count(sizedProduct(s, dtypes::int8, dtypes::int8)) > 0); // exact
  }
  CHECK(count(sizedProduct(s, dtypes::float16, dtypes::float16)) == 0);
  CHECK(count(sizedProduct(s, dtypes::int16, dtypes::int8)) == 0);
  CHECK_THROWS_WITH(
      lowerKernel(withOpts(sizedProduct(s, dtypes::float16, dtypes::float16), {{OptOp::TC, 0, {-1, 0, 1}}}),
                  dotTarget()),
      doctest::Contains("it sums no product of the types"));
}

TEST_CASE("the text of a dot product pads its lanes to the instruction's") {
  Pool pool;
  PoolScope scope(pool);
  UOp ast = withOpts(sizedProduct({4, 24, 16}, dtypes::bfloat16, dtypes::bfloat16),
                     {{OptOp::UPCAST, 1, {3}}, {OptOp::TC, 0, {-1, 0, 1}}});
  Target t = dotTarget();
  t.suffix = "LLVM";
  const std::string text = LlvmRenderer(t).render(lowerKernel(ast, t));
  CHECK(text.find("@llvm.x86.avx512bf16.dpbf16ps.128(<4 x float>") != std::string::npos);
  CHECK(text.find("shufflevector <4 x float> %dot0") != std::string::npos);
}
