// An interval holds every value of its expression, and decompositions leave out the cases that it rules out.
#include "engine/codegen/float_interval.h"
#include "engine/uop/eval.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

constexpr int kLanes = 0x7fffff;

/// Whether a value is known to be a number between finite bounds.
bool isKnown(FloatBounds b) {
  return !b.maybeNan && std::isfinite(b.low) && std::isfinite(b.high);
}

/// A number in [1, 2) from the low bits of a word, as random numbers are made.
UOp mantissa(UOp word) {
  return ((word & word.constLike(kLanes)) | word.constLike(0x3f800000)).bitcast(dtypes::float32);
}

double evaluated(UOp u, UOp variable, int64_t value) {
  if (u == variable) return static_cast<double>(value);
  if (u.isConst()) return u.constValue().asDouble();
  std::vector<ConstValue> operands;
  for (UOp s : u.src()) {
    double v = evaluated(s, variable, value);
    operands.push_back(s.dtype().isFloat() ? ConstValue::ofFloat(v)
                                           : ConstValue::ofInt(static_cast<int64_t>(v)));
  }
  return evalAlu(u.op(), u.dtype(), u.srcCount() ? u.src(0).dtype() : u.dtype(), operands).asDouble();
}

UOp randomExpression(std::mt19937& random, UOp word, int depth) {
  auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  auto f32 = [](double v) {
    return UOp::constant(dtypes::float32, static_cast<double>(static_cast<float>(v)));
  };
  if (depth == 0) {
    if (pick(3) == 0) return f32((pick(2000) - 1000) / 64.0);
    return pick(2) ? mantissa(word) : (word & word.constLike(255)).cast(dtypes::float32);
  }
  UOp x = randomExpression(random, word, depth - 1);
  switch (pick(8)) {
  case 0: return x + randomExpression(random, word, depth - 1);
  case 1: return x * randomExpression(random, word, depth - 1);
  case 2: return x.alu(Op::MAX, {randomExpression(random, word, depth - 1)});
  case 3: return (x < f32(1)).where(x, randomExpression(random, word, depth - 1));
  case 4: return x.alu(Op::SQRT);
  case 5: return x.alu(Op::RECIPROCAL);
  case 6: return x * f32(-1);
  default: return x.alu(Op::SIN);
  }
}

} // namespace

TEST_CASE("an interval of a random number, of one minus it, and of its angle") {
  Pool pool;
  PoolScope scope(pool);
  UOp word = UOp::variable("w", 0, 0x7fffffff, dtypes::int32);
  UOp uniform = mantissa(word) + UOp::constant(dtypes::float32, -1.0);
  const FloatBounds u = floatBounds(uniform);
  CHECK(isKnown(u));
  CHECK(u.low == doctest::Approx(0));
  CHECK(u.high < 1);
  const FloatBounds rest =
      floatBounds(uniform * UOp::constant(dtypes::float32, -1.0) + UOp::constant(dtypes::float32, 1.0));
  CHECK((isKnown(rest) && rest.low > 1e-7));
  const FloatBounds angle = floatBounds(uniform * UOp::constant(dtypes::float32, 6.2831853));
  CHECK((isKnown(angle) && angle.low >= -1e-6 && angle.high <= 6.2832));
}

TEST_CASE("nothing is known of loads, of what may overflow, and of what may not be a number") {
  Pool pool;
  PoolScope scope(pool);
  UOp word = UOp::variable("w", 0, 0x7fffffff, dtypes::int32);
  CHECK_FALSE(isKnown(floatBounds(read(memory(0, 8), UOp::range(8, 0)))));
  CHECK_FALSE(isKnown(floatBounds(word.bitcast(dtypes::float32)))); // NaN is possible
  UOp large = mantissa(word) * UOp::constant(dtypes::float32, 2e38);
  CHECK_FALSE(isKnown(floatBounds(large * large)));
  CHECK_FALSE(
      isKnown(floatBounds((mantissa(word) + UOp::constant(dtypes::float32, -1.0)).alu(Op::RECIPROCAL))));
  CHECK_FALSE(isKnown(floatBounds((mantissa(word) * UOp::constant(dtypes::float32, -1.0)).alu(Op::SQRT))));
  CHECK_FALSE(isKnown(floatBounds(UOp::constant(dtypes::float32, std::nan("")))));
}

TEST_CASE("a condition bounds what it chooses, and leaves NaN where no comparison excludes it") {
  Pool pool;
  PoolScope scope(pool);
  const UOp x = read(memory(0, 8), UOp::range(8, 0));
  auto f32 = [](double v) { return UOp::constant(dtypes::float32, v); };
  const UOp minus = x * f32(-1), size = (x < f32(0)).where(minus, x);
  const FloatBounds any = floatBounds(x), magnitude = floatBounds(size),
                    largest = floatBounds(x.alu(Op::MAX, {minus}));
  CHECK((any.maybeNan && std::isinf(any.low) && std::isinf(any.high)));
  for (const FloatBounds& b : {magnitude, largest}) CHECK((b.low == 0 && std::isinf(b.high) && b.maybeNan));
  const FloatBounds cut = floatBounds((f32(10) < size).where(f32(10), size));
  CHECK((cut.low == 0 && cut.high == 10 && cut.maybeNan));
  const FloatBounds near = floatBounds((size < f32(0.5)).where(size, f32(0)));
  CHECK((near.low == 0 && near.high == 0.5 && !near.maybeNan));
  const FloatBounds decay = floatBounds((f32(10) < size).where(f32(10), size) * f32(-2.885));
  CHECK((decay.low > -28.9 && decay.high >= 0 && decay.high < 1e-30 && decay.maybeNan));
  CHECK(floatBounds(x - x).maybeNan);         // inf - inf
  CHECK(floatBounds(size * f32(0)).maybeNan); // 0 * inf
  CHECK_FALSE(isKnown(floatBounds((f32(10) < size).where(f32(10), size))));
}

TEST_CASE("values of random expressions of any float, infinity and NaN too, lie within their bounds") {
  std::mt19937 random(12);
  int bounded = 0, without = 0;
  for (int round = 0; round < 600; ++round) {
    Pool pool;
    PoolScope scope(pool);
    const UOp word = UOp::variable("w", 0, 0x7fffffff, dtypes::int32);
    auto f32 = [&] {
      return UOp::constant(dtypes::float32, (static_cast<int>(random() % 400) - 200) / 16.0);
    };
    UOp u = word.bitcast(dtypes::float32);
    for (unsigned depth = 0; depth < 2 + random() % 5; ++depth) {
      const UOp c = f32(), minus = u * UOp::constant(dtypes::float32, -1.0);
      const UOp forms[] = {(c < u).where(c, u),
                           (u < c).where(c, u),
                           (u < c).where(u, c),
                           (u < c).where(minus, u),
                           u.alu(Op::MAX, {minus}),
                           u.alu(Op::MAX, {c}),
                           u * c,
                           u + c,
                           u.alu(Op::EXP2),
                           minus,
                           (u < c).where(u, minus),
                           randomExpression(random, word, 1) + u};
      u = forms[random() % std::size(forms)];
    }
    const FloatBounds b = floatBounds(u);
    bounded += std::isfinite(b.low) || std::isfinite(b.high);
    without += !b.maybeNan;
    for (int i = 0; i < 60; ++i) {
      constexpr int64_t kSpecial[] = {0,          1,          0x7f7fffff, 0x7f800000,
                                      0x7f800001, 0x7fffffff, 0x3f800000, 0x00800000};
      const int64_t at = i < 8 ? kSpecial[i] : static_cast<int64_t>(random() >> 1);
      const double value = evaluated(u, word, at);
      CAPTURE(u.render());
      CAPTURE(at);
      if (std::isnan(value))
        CHECK(b.maybeNan);
      else
        CHECK((b.low <= value && value <= b.high));
    }
  }
  CHECK(bounded > 200);
  CHECK(without > 20);
}

TEST_CASE("values of random expressions lie within their intervals") {
  std::mt19937 random(11);
  int bounded = 0;
  for (int round = 0; round < 400; ++round) {
    Pool pool;
    PoolScope scope(pool);
    UOp word = UOp::variable("w", 0, 0x7fffffff, dtypes::int32);
    UOp expression = randomExpression(random, word, 1 + round % 5);
    const FloatBounds interval = floatBounds(expression);
    if (!isKnown(interval)) continue;
    ++bounded;
    for (int i = 0; i < 40; ++i) {
      int64_t at = i == 0 ? 0 : i == 1 ? 0x7fffffff : i == 2 ? kLanes : static_cast<int64_t>(random() >> 1);
      double value = evaluated(expression, word, at);
      CAPTURE(expression.render());
      CHECK(interval.low <= value);
      CHECK(value <= interval.high);
    }
  }
  CHECK(bounded > 100);
}

TEST_CASE("the cosine of a bounded angle needs no reduction of large arguments, and is as accurate") {
  Pool pool;
  PoolScope scope(pool);
  Target target = plainTarget();
  target.nativeOps = target.nativeOps - OpSet{Op::SIN, Op::LOG2};
  auto bounded = [](UOp v) {
    return (mantissa(v) + UOp::constant(dtypes::float32, -1.0)) * UOp::constant(dtypes::float32, 40.0);
  };
  UOp i = UOp::range(4096, 0);
  UOp value = bounded(read(memory(1, 4096, dtypes::int32), i)).alu(Op::SIN);
  UOp sink = kernel({memory(0, 4096).indexed({i}).store(value).end({i})});
  LoweredKernel lowered = checkKernel(sink, target, 1, {}, 1e-6);
  for (UOp u : lowered.uops) CHECK(u.dtype().scalar() != dtypes::uint64);
}
