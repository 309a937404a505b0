// Evaluation on constants, where C and Python differ most and where C leaves results undefined.
#include "engine/base/error.h"
#include "engine/uop/eval.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace uopscope;

namespace {

int64_t evaluatedInt(Op op, DType d, int64_t a, int64_t b) {
  return evalAlu(op, d, d, {ConstValue::ofInt(a), ConstValue::ofInt(b)}).i;
}
double evaluatedFloat(Op op, DType d, double a, double b) {
  return evalAlu(op, d, d, {ConstValue::ofFloat(a), ConstValue::ofFloat(b)}).f;
}
bool evaluatedLess(DType d, int64_t a, int64_t b) {
  return evalAlu(Op::CMPLT, dtypes::bool_, d, {ConstValue::ofInt(a), ConstValue::ofInt(b)}).i != 0;
}

} // namespace

TEST_CASE("integers wrap and divide towards zero") {
  CHECK(evaluatedInt(Op::ADD, dtypes::int8, 127, 1) == -128);
  CHECK(evaluatedInt(Op::MUL, dtypes::uint32, 0x10001, 0x10001) == 0x20001);
  CHECK(evaluatedInt(Op::IDIV, dtypes::int32, -7, 2) == -3);
  CHECK(evaluatedInt(Op::MOD, dtypes::int32, -7, 2) == -1);
  CHECK(evaluatedInt(Op::MOD, dtypes::int32, 7, -2) == 1);
  CHECK(evaluatedInt(Op::IDIV, dtypes::int32, 7, 0) == 0);
  CHECK(evaluatedInt(Op::MOD, dtypes::int32, 7, 0) == 0);
  CHECK(evaluatedInt(Op::IDIV, dtypes::int64, std::numeric_limits<int64_t>::min(), -1) ==
        std::numeric_limits<int64_t>::min());
  CHECK(evaluatedInt(Op::MOD, dtypes::int64, std::numeric_limits<int64_t>::min(), -1) == 0);
  CHECK(evaluatedInt(Op::IDIV, dtypes::int32, std::numeric_limits<int32_t>::min(), -1) ==
        std::numeric_limits<int32_t>::min());
  CHECK(evaluatedInt(Op::IDIV, dtypes::uint64, -1, 2) == std::numeric_limits<int64_t>::max());
  CHECK(evaluatedInt(Op::MAX, dtypes::uint64, -1, 2) == -1);
  CHECK(evaluatedInt(Op::MAX, dtypes::int64, -1, 2) == 2);
  CHECK(evaluatedLess(dtypes::uint64, 2, -1));
  CHECK(!evaluatedLess(dtypes::int64, 2, -1));
  CHECK(evaluatedInt(Op::SHL, dtypes::int32, 1, 31) == std::numeric_limits<int32_t>::min());
  CHECK(evaluatedInt(Op::SHL, dtypes::int32, 1, 32) == 0);
  CHECK(evaluatedInt(Op::SHR, dtypes::int32, -8, 1) == -4);
  CHECK(evaluatedInt(Op::SHR, dtypes::int32, -8, 40) == -1);
  CHECK(evaluatedInt(Op::SHR, dtypes::uint64, -1, 63) == 1);
  CHECK(evaluatedInt(Op::POW, dtypes::int32, -3, 3) == -27);
  CHECK(evaluatedInt(Op::POW, dtypes::int32, 2, -1) == 0);
}

TEST_CASE("floats round to their type") {
  CHECK(evaluatedFloat(Op::ADD, dtypes::float32, 16777216, 1) == 16777216);
  CHECK(evaluatedFloat(Op::ADD, dtypes::float64, 16777216, 1) == 16777217);
  CHECK(evaluatedFloat(Op::MUL, dtypes::float16, 300, 300) == std::numeric_limits<double>::infinity());
  CHECK(evaluatedFloat(Op::ADD, dtypes::bfloat16, 256, 1) == 256);
  CHECK(std::isnan(evaluatedFloat(Op::FDIV, dtypes::float32, 0, 0)));
  CHECK(evaluatedFloat(Op::FDIV, dtypes::float32, 1, -0.0) == -std::numeric_limits<double>::infinity());
  auto nan = ConstValue::ofFloat(std::nan(""));
  CHECK(evalAlu(Op::CMPNE, dtypes::bool_, dtypes::float32, {nan, nan}).i == 1);
  CHECK(evalAlu(Op::CMPLT, dtypes::bool_, dtypes::float32, {nan, ConstValue::ofFloat(1)}).i == 0);
  CHECK(evalAlu(Op::EXP2, dtypes::float32, dtypes::float32, {ConstValue::ofFloat(3)}).f == 8);
  CHECK(evalAlu(Op::SQRT, dtypes::float32, dtypes::float32, {ConstValue::ofFloat(2)}).f == std::sqrt(2.0f));
  CHECK(evalAlu(Op::RECIPROCAL, dtypes::float32, dtypes::float32, {ConstValue::ofFloat(3)}).f == 1.0f / 3);
}

TEST_CASE("casts") {
  auto cast = [](DType to, DType from, ConstValue v) { return evalAlu(Op::CAST, to, from, {v}); };
  CHECK(cast(dtypes::int32, dtypes::float32, ConstValue::ofFloat(-2.9)).i == -2);
  CHECK(cast(dtypes::uint8, dtypes::float32, ConstValue::ofFloat(300)).i == 44);
  CHECK(cast(dtypes::int32, dtypes::float32, ConstValue::ofFloat(std::nan(""))).i == 0);
  CHECK(cast(dtypes::bool_, dtypes::float32, ConstValue::ofFloat(0.5)) == ConstValue::ofBool(true));
  CHECK(cast(dtypes::float32, dtypes::int64, ConstValue::ofInt((int64_t{1} << 60) + 1)).f ==
        std::ldexp(1, 60));
  CHECK(cast(dtypes::float32, dtypes::uint64, ConstValue::ofInt(-1)).f == std::ldexp(1, 64));
  CHECK(cast(dtypes::uint64, dtypes::float64, ConstValue::ofFloat(1.8e19)).i ==
        static_cast<int64_t>(18000000000000000000ull));
  CHECK(cast(dtypes::int64, dtypes::float64, ConstValue::ofFloat(1e30)).i ==
        std::numeric_limits<int64_t>::max());
  CHECK(evalAlu(Op::BITCAST, dtypes::uint32, dtypes::float32, {ConstValue::ofFloat(1)}).i == 0x3f800000);
  CHECK(evalAlu(Op::BITCAST, dtypes::float32, dtypes::int32,
                {ConstValue::ofInt(static_cast<int32_t>(0xbf800000))})
            .f == -1);
  CHECK(evalAlu(Op::BITCAST, dtypes::float16, dtypes::uint16, {ConstValue::ofInt(0x3c00)}).f == 1);
}

TEST_CASE("Threefry-2x32 with 20 rounds: the known answers of its authors") {
  // Counter and key words (low, high) and the result, from the Random123 distribution's known-answer tests.
  CHECK(threefry2x32(0, 0) == 0x99ba4efe6b200159ull);
  CHECK(threefry2x32(~0ull, ~0ull) == 0xbb002be71cb996fcull);
  CHECK(threefry2x32(0x85a308d3243f6a88ull, 0x0370734413198a2eull) == 0x483df7a0c4923a9cull);
  CHECK(evaluatedInt(Op::THREEFRY, dtypes::uint64, 0, 0) == static_cast<int64_t>(0x99ba4efe6b200159ull));
  CHECK(threefry2x32(1, 0) == 0xc0de3f32508efb2cull); // as the reference draws it
}

TEST_CASE("Invalid passes through, but not from the branch that is not taken") {
  auto invalid = ConstValue::invalid();
  CHECK(evalAlu(Op::ADD, dtypes::index, dtypes::index, {invalid, ConstValue::ofInt(1)}).isInvalid());
  CHECK(evalAlu(Op::WHERE, dtypes::index, dtypes::index,
                {ConstValue::ofBool(true), ConstValue::ofInt(3), invalid})
            .i == 3);
  CHECK(evalAlu(Op::WHERE, dtypes::index, dtypes::index,
                {ConstValue::ofBool(false), ConstValue::ofInt(3), invalid})
            .isInvalid());
}

TEST_CASE("a constant of float32 is shown as people write it") {
  auto shown = [](DType d, double v) { return asWritten(d, ConstValue::ofFloat(v)).f; };
  CHECK(shown(dtypes::float32, static_cast<double>(0.1f)) == 0.1);
  CHECK(shown(dtypes::float32, static_cast<double>(-3.2e-7f)) == -3.2e-7);
  CHECK(shown(dtypes::float32, static_cast<double>(1.f / 3)) == static_cast<double>(1.f / 3));
  CHECK(shown(dtypes::float16, 0.294921875) == 0.294921875);
  CHECK(shown(dtypes::float64, 0.1) == 0.1);
  CHECK(std::isinf(shown(dtypes::float32, INFINITY)));
  CHECK(std::isnan(shown(dtypes::float32, NAN)));
  CHECK(asWritten(dtypes::int32, ConstValue::ofInt(7)).i == 7);
  for (uint32_t bits = 1; bits < 0x7f800000u; bits += 77777) {
    const auto v = static_cast<double>(__builtin_bit_cast(float, bits));
    REQUIRE(dtypes::roundFloat(dtypes::float32, shown(dtypes::float32, v)) == v);
  }
}

TEST_CASE("what has no value is an error") {
  CHECK_THROWS_AS(evalAlu(Op::LOAD, dtypes::int32, dtypes::int32, {ConstValue::ofInt(1)}), Error);
  CHECK_THROWS_AS(evalAlu(Op::ADD, dtypes::int32, dtypes::int32, {ConstValue::ofInt(1)}), Error);
  CHECK_THROWS_AS(evalAlu(Op::SIN, dtypes::int32, dtypes::int32, {ConstValue::ofInt(1)}), Error);
}
