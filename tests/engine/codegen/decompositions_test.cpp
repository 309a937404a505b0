// Decompositions of operations that a target lacks give the values of the operations themselves.
#include "engine/base/context_var.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <numbers>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

Target bareTarget() {
  Target t = plainTarget();
  t.nativeOps = OpSet{Op::ADD, Op::MUL, Op::IDIV, Op::CMPLT, Op::CMPNE, Op::AND,
                      Op::OR,  Op::XOR, Op::SHL,  Op::SHR,   Op::WHERE, Op::RECIPROCAL};
  return t;
}

/// A target without 64-bit types, behind which a compiler reassociates.
Target wordTarget() {
  Target t = bareTarget();
  t.mayReassociate = true;
  t.supportsDtype = [](DType d) {
    return !d.isVoid() && d.kind() != Scalar::Index && d.scalar().itemsize() <= 4;
  };
  return t;
}

/// The values of a kernel over one input buffer.
std::vector<ConstValue> mapValues(const std::vector<ConstValue>& in, DType d,
                                  const std::function<UOp(UOp)>& f, const Target& target) {
  auto n = static_cast<int64_t>(in.size());
  UOp sink = elementwise(n, f, d);
  ContextScope settings({{"SPEC", 1}});
  Values before;
  before[1] = in;
  UOp stored = sink.src(0).src(0);
  before[0].assign(in.size(), convertConst(stored.src(1).dtype(), ConstValue::ofInt(0)));
  return runLowered(lowerKernel(sink, target), before, {})[0];
}

/// Distance in units of the last place of the type.
double ulps(double got, double wanted, bool isDouble) {
  if (got == wanted || (std::isnan(got) && std::isnan(wanted))) return 0;
  if (!std::isfinite(got) || !std::isfinite(wanted)) return 1e9;
  double unit = isDouble ? std::ldexp(1.0, std::max(std::ilogb(wanted), -1022) - 52)
                         : std::ldexp(1.0, std::max(wanted == 0 ? -126 : std::ilogb(wanted), -126) - 23);
  return std::abs(got - wanted) / unit;
}

std::vector<ConstValue> floats(const std::vector<double>& values, DType d) {
  std::vector<ConstValue> all;
  for (double v : values) all.push_back(convertConst(d, ConstValue::ofFloat(v)));
  return all;
}

double worst(const std::function<UOp(UOp)>& function, const std::vector<double>& points, DType d,
             const std::function<double(double)>& exact, const Target& target = bareTarget()) {
  auto in = floats(points, d);
  auto out = mapValues(in, d, function, target);
  double most = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    double wanted = exact(in[i].f);
    if (d == dtypes::float32) wanted = static_cast<float>(wanted);
    double error = ulps(out[i].asDouble(), wanted, d == dtypes::float64);
    if (error > most) {
      most = error;
      if (error > 8) MESSAGE("of " << in[i].f << ": " << out[i].asDouble() << " instead of " << wanted);
    }
  }
  return most;
}

std::function<UOp(UOp)> by(Op op) {
  return [op](UOp v) { return v.alu(op); };
}

constexpr double kInf = std::numeric_limits<double>::infinity();
const std::vector<double> kSpecial{0.0, -0.0, 1.0, -1.0, kInf, -kInf, std::nan(""), 0.5, 2.0, 1e-40, 3e38};

} // namespace

TEST_CASE("transcendental functions by arithmetic are accurate") {
  Pool pool;
  PoolScope scope(pool);
  std::vector<double> exponents = kSpecial, positive = kSpecial, angles = kSpecial;
  for (int i = -3000; i <= 3000; ++i) {
    exponents.push_back(i * 0.0497);
    positive.push_back(std::exp(i * 0.0291));
    angles.push_back(i * 0.37);
    angles.push_back(std::ldexp(1 + (i & 1023) / 1024.0, i % 127));
  }
  auto exp2 = [](double v) { return std::exp2(v); };
  auto log2 = [](double v) { return std::log2(v); };
  auto sin = [](double v) { return std::sin(v); };
  CHECK(worst(by(Op::EXP2), exponents, dtypes::float32, exp2) <= 2.5);
  CHECK(worst(by(Op::LOG2), positive, dtypes::float32, log2) <= 3.5);
  CHECK(worst(by(Op::SQRT), {0, 1, 2, 4, 9, 1e-10, 1e10, kInf}, dtypes::float32,
              [](double v) { return std::sqrt(v); }) <= 64);
  CHECK(worst(by(Op::EXP2), exponents, dtypes::float64, exp2) <= 8);
  CHECK(worst(by(Op::LOG2), positive, dtypes::float64, log2) <= 8);
  std::vector<double> away;
  for (double a : angles) // near a multiple of pi the last places depend on the last places of pi
    if (!std::isfinite(a) || std::abs(std::sin(static_cast<float>(a))) > 1e-3 || a == 0) away.push_back(a);
  CHECK(worst(by(Op::SIN), away, dtypes::float32, sin) <= 4);
  CHECK(worst(by(Op::SIN), away, dtypes::float32, sin, wordTarget()) <= 4);
  CHECK(worst(by(Op::EXP2), exponents, dtypes::float32, exp2, wordTarget()) <= 2.5);
  CHECK(worst(by(Op::LOG2), positive, dtypes::float32, log2, wordTarget()) <= 3.5);
  CHECK(worst(by(Op::TRUNC), {1.5, -1.5, 1e20, -1e20, 0.2, kInf}, dtypes::float32,
              [](double v) { return std::trunc(v); }) == 0);
}

TEST_CASE("e^x, 10^x and the logarithm of 1 + x are as accurate as 2^x and the logarithm of x") {
  Pool pool;
  PoolScope scope(pool);
  std::vector<double> numbers = kSpecial, positive = kSpecial;
  for (int i = -4000; i <= 4000; ++i) {
    numbers.push_back(i * 0.1873); // to 749: past both ends of float64's e^x
    numbers.push_back(i * 0.0271);
    positive.push_back(std::exp2(i * 0.0371));
    positive.push_back(-std::exp2(std::min(0, i) * 0.0371));
  }
  for (double edge :
       {88.7228, 88.7229, 103.97, 104.0, 709.7827, 709.7828, 745.13, 745.14, 38.53, 38.54, 308.25, 308.26})
    numbers.insert(numbers.end(), {edge, -edge});
  const auto scaled = [](double factor) {
    return [factor](UOp v) { return (v * UOp::constant(v.dtype(), factor)).alu(Op::EXP2); };
  };
  const auto logOfLess = [](UOp v) {
    const UOp one = UOp::constant(v.dtype(), 1.0), minus = UOp::constant(v.dtype(), -1.0);
    return (one + v * minus).alu(Op::LOG2);
  };
  const auto logOfMore = [](UOp v) { return (v + UOp::constant(v.dtype(), 1.0)).alu(Op::LOG2); };
  const double e = 1 / std::numbers::ln2, ten = std::log2(10.0);
  // In long double, since the double of a product is not the product.
  const auto exp = [](double v) { return static_cast<double>(std::exp(static_cast<long double>(v))); };
  const auto decay = [](double v) { return static_cast<double>(std::exp(-static_cast<long double>(v))); };
  const auto tenTo = [](double v) {
    return static_cast<double>(std::pow(10.0L, static_cast<long double>(v)));
  };
  const auto log1 = [](double v) {
    return static_cast<double>(std::log1p(static_cast<long double>(v)) / std::numbers::ln2_v<long double>);
  };
  for (const DType d : {dtypes::float32, dtypes::float64}) {
    CAPTURE(d.name());
    CHECK(worst(scaled(e), numbers, d, exp) <= 1.5);
    CHECK(worst(scaled(-e), numbers, d, decay) <= 1.5);
    CHECK(worst(scaled(ten), numbers, d, tenTo) <= 1.5);
    CHECK(worst(logOfMore, positive, d, log1) <= 4);
    CHECK(worst(logOfLess, positive, d, [&](double v) { return log1(-v); }) <= 4);
  }
  // In words of 32 bits, where a compiler may reorder sums; with products that are fused with their sums.
  CHECK(worst(scaled(e), numbers, dtypes::float32, exp, wordTarget()) <= 1.5);
  CHECK(worst(logOfMore, positive, dtypes::float32, log1, wordTarget()) <= 4);
  Target fused = bareTarget();
  fused.nativeOps = fused.nativeOps | OpSet{Op::MULACC};
  CHECK(worst(scaled(e), numbers, dtypes::float32, exp, fused) <= 1.5);
  CHECK(worst(scaled(e), numbers, dtypes::float64, exp, fused) <= 1.5);
  // A factor that stands for nothing else is taken as it is.
  const auto third = [](double v) {
    return static_cast<double>(std::exp2(static_cast<long double>(v) * static_cast<double>(0.3F)));
  };
  CHECK(worst(scaled(0.3F), numbers, dtypes::float32, third) <= 1.5);
}

TEST_CASE("e^x - 1 and 2^x - 1 keep all places near 0, the sign of zero, and both ends") {
  Pool pool;
  PoolScope scope(pool);
  std::vector<double> numbers = kSpecial;
  for (int i = -2000; i <= 2000; ++i) {
    numbers.push_back(i * 0.3746); // to 749
    numbers.push_back(i * 0.0271);
    numbers.push_back(std::ldexp(1 + (i + 2000) / 4001.0, -(i + 2000) % 140));
    numbers.push_back(-numbers.back());
  }
  for (double edge : {88.7228, 88.7229, 88.02, 709.7827, 709.7828, 18.7, 27.0, 38.8, 56.0, 1024.0, 128.0})
    numbers.insert(numbers.end(), {edge, -edge});
  const auto less1 = [](double factor) {
    return [factor](UOp v) {
      const UOp argument = factor == 1 ? v : v * UOp::constant(v.dtype(), factor);
      return argument.alu(Op::EXP2) + UOp::constant(v.dtype(), -1.0);
    };
  };
  const auto ofE = [](double sign) {
    return [sign](double v) { return static_cast<double>(std::expm1(static_cast<long double>(sign * v))); };
  };
  const auto ofTwo = [](double v) {
    return static_cast<double>(std::expm1(std::numbers::ln2_v<long double> * static_cast<long double>(v)));
  };
  const auto from1 = [](double factor) {
    return [factor](UOp v) {
      const UOp power = (v * UOp::constant(v.dtype(), factor)).alu(Op::EXP2);
      return UOp::constant(v.dtype(), 1.0) + power * UOp::constant(v.dtype(), -1.0);
    };
  };
  const double e = 1 / std::numbers::ln2;
  Target fused = bareTarget(), native = plainTarget();
  fused.nativeOps = fused.nativeOps | OpSet{Op::MULACC};
  for (const Target& target : {bareTarget(), wordTarget(), fused, native}) {
    CHECK(worst(less1(e), numbers, dtypes::float32, ofE(1), target) <= 2.5);
    CHECK(worst(less1(-e), numbers, dtypes::float32, ofE(-1), target) <= 2.5);
    CHECK(worst(less1(1), numbers, dtypes::float32, ofTwo, target) <= 2.5);
    CHECK(worst(from1(-e), numbers, dtypes::float32, [&](double v) { return -ofE(-1)(v); }, target) <= 2.5);
    if (target.mayReassociate) continue; // it has no float64
    CHECK(worst(from1(e), numbers, dtypes::float64, [&](double v) { return -ofE(1)(v); }, target) <= 3);
    CHECK(worst(less1(e), numbers, dtypes::float64, ofE(1), target) <= 3);
    CHECK(worst(less1(1), numbers, dtypes::float64, ofTwo, target) <= 3);
  }
  for (const DType d : {dtypes::float32, dtypes::float64})
    for (const double factor : {e, -e, 1.0, std::log2(10.0)}) {
      const auto zeros = mapValues(floats({0.0, -0.0}, d), d, less1(factor), fused);
      CHECK(std::signbit(zeros[0].asDouble()) == (factor < 0));
      CHECK(std::signbit(zeros[1].asDouble()) == (factor > 0));
      for (const ConstValue& zero : mapValues(floats({0.0, -0.0}, d), d, from1(factor), fused))
        CHECK(!std::signbit(zero.asDouble()));
    }
}

TEST_CASE("the sine of any float64 is accurate") {
  Pool pool;
  PoolScope scope(pool);
  // The first is the float64 nearest to a multiple of pi/2: its sine is 1 and its cosine 4.7e-19; twice it, 2^-60.
  std::vector<double> angles = kSpecial;
  for (double a : {0x1.6ac5b262ca1ffp+849, 0x1.6ac5b262ca1ffp+850, 1.7976931348623157e308, 0x1p1023, 0x1p53,
                   0x1p62, 999.9, 1000.1})
    angles.insert(angles.end(), {a, -a});
  for (int i = -1023; i <= 1023; ++i) {
    double odd = 1 + ((i + 1023) * 37 % 2048) / 2048.0;
    angles.push_back(std::ldexp(odd, i));
    angles.push_back(
        std::nextafter(std::ldexp(std::numbers::pi, i), 0)); // close to a multiple of pi from i = 0 on
    angles.push_back(i * 0.37);
    angles.push_back(i * std::numbers::pi / 2);
  }
  auto sin = [](double v) { return std::sin(v); };
  CHECK(worst(by(Op::SIN), angles, dtypes::float64, sin) <= 4);
}

TEST_CASE("a cosine is accurate next to its zeros, and of large angles") {
  Pool pool;
  PoolScope scope(pool);
  // As tensors write it.
  const auto cosine = [](UOp v) {
    const auto number = [&](double c) { return UOp::constant(v.dtype(), c); };
    const UOp half = (v * number(0.5)).alu(Op::SIN);
    return half * half * number(-2) + number(1);
  };
  const auto cos = [](double v) { return std::cos(v); };
  Target fused = bareTarget();
  fused.nativeOps = fused.nativeOps | OpSet{Op::MULACC};
  for (const DType d : {dtypes::float32, dtypes::float64}) {
    std::vector<double> angles = kSpecial;
    for (int i = -600; i <= 600; ++i) {
      const double zero = (i + 0.5) * std::numbers::pi;
      for (const double a : {zero, std::nextafter(zero, 0), i * 0.37, i * std::numbers::pi,
                             std::ldexp(1 + (i & 63) / 64.0, i / 5)})
        angles.push_back(a);
    }
    for (const Target& target : {bareTarget(), fused}) CHECK(worst(cosine, angles, d, cos, target) <= 4);
  }
}

TEST_CASE("no sine is above 1 or below -1, and the cosine of 0 is 1") {
  Pool pool;
  PoolScope scope(pool);
  Target fused = bareTarget();
  fused.nativeOps = fused.nativeOps | OpSet{Op::MULACC};
  std::vector<double> tops;
  for (int i = -300; i <= 300; ++i)
    for (int step = -3; step <= 3; ++step)
      tops.push_back((i + 0.5) * std::numbers::pi * (1 + step * 0x1p-23));
  for (const Target& target : {bareTarget(), wordTarget(), fused})
    for (const DType d : {dtypes::float32, dtypes::float64}) {
      if (d == dtypes::float64 && target.mayReassociate) continue; // it has no float64
      for (const ConstValue& sine : mapValues(floats(tops, d), d, by(Op::SIN), target))
        REQUIRE(std::abs(sine.asDouble()) <= 1);
      const auto ofZero = mapValues(
          floats({0.0, -0.0}, d), d,
          [](UOp v) {
            const UOp half = (v * UOp::constant(v.dtype(), 0.5)).alu(Op::SIN);
            return half * half * UOp::constant(v.dtype(), -2.0) + UOp::constant(v.dtype(), 1.0);
          },
          target);
      for (const ConstValue& cosine : ofZero) CHECK(cosine.asDouble() == 1);
    }
}

TEST_CASE("the sine of zero is that zero") {
  Pool pool;
  PoolScope scope(pool);
  Target fused = bareTarget();
  fused.nativeOps = fused.nativeOps | OpSet{Op::MULACC};
  for (const Target& target : {bareTarget(), wordTarget(), fused})
    for (const DType d : {dtypes::float32, dtypes::float64}) {
      if (d == dtypes::float64 && target.mayReassociate) continue; // it has no float64
      const auto sines = mapValues(floats({0.0, -0.0}, d), d, by(Op::SIN), target);
      CHECK(sines[0].asDouble() == 0);
      CHECK(!std::signbit(sines[0].asDouble()));
      CHECK(sines[1].asDouble() == 0);
      CHECK(std::signbit(sines[1].asDouble()));
    }
}

TEST_CASE("powers") {
  Pool pool;
  PoolScope scope(pool);
  std::vector<double> bases{2, -2, 0, 0.5, 3, -1, 10, -0.5};
  for (double e : {0.0, 1.0, 2.0, 3.0, -1.0, 0.5}) {
    auto out = mapValues(
        floats(bases, dtypes::float32), dtypes::float32,
        [&](UOp v) { return v.alu(Op::POW, {UOp::constant(v.dtype(), e)}); }, bareTarget());
    for (size_t i = 0; i < bases.size(); ++i) {
      CAPTURE(bases[i]);
      CAPTURE(e);
      double wanted = std::pow(bases[i], e), got = out[i].asDouble();
      if (std::isnan(wanted))
        CHECK(std::isnan(got));
      else if (std::isinf(wanted))
        CHECK(got == wanted);
      else
        CHECK(got == doctest::Approx(wanted).epsilon(1e-5));
    }
  }
}

TEST_CASE("integer division and remainder by constants") {
  Pool pool;
  PoolScope scope(pool);
  for (int fast : {0, 1})
    for (DType d :
         {dtypes::int32, dtypes::uint32, dtypes::int8, dtypes::uint8, dtypes::int64, dtypes::uint64}) {
      ContextScope slow({{"DISABLE_FAST_IDIV", fast}});
      std::vector<ConstValue> in;
      for (int64_t v : {0, 1, 2, 3, 5, 7, 9, 63, 64, 99, 100, 127})
        for (int64_t sign : {1, -1}) in.push_back(convertConst(d, ConstValue::ofInt(v * sign)));
      if (d.itemsize() >= 4)
        for (int64_t v : {1000, 65535, 65536, 1 << 30, 2147483647}) in.push_back(ConstValue::ofInt(v));
      for (int64_t by : {1, 2, 3, 5, 7, 8, 10, 16, 25, 100}) {
        auto quotient = mapValues(in, d, [&](UOp v) { return v / by; }, bareTarget());
        auto rest = mapValues(in, d, [&](UOp v) { return v % by; }, bareTarget());
        for (size_t i = 0; i < in.size(); ++i) {
          CAPTURE(in[i].i);
          CAPTURE(by);
          ConstValue b = convertConst(d, ConstValue::ofInt(by));
          CHECK(quotient[i] == evalAlu(Op::IDIV, d, d, {in[i], b}));
          CHECK(rest[i] == evalAlu(Op::MOD, d, d, {in[i], b}));
        }
      }
    }
}

TEST_CASE("random bits by 32-bit arithmetic") {
  Pool pool;
  PoolScope scope(pool);
  std::vector<ConstValue> in;
  for (int64_t i = 0; i < 20; ++i) in.push_back(ConstValue::ofInt(i * 0x123456789abcdefll));
  auto out = mapValues(
      in, dtypes::uint64, [](UOp v) { return v.alu(Op::THREEFRY, {v.constLike(0x1BD11BDA12345678ll)}); },
      bareTarget());
  for (size_t i = 0; i < in.size(); ++i)
    CHECK(static_cast<uint64_t>(out[i].i) ==
          threefry2x32(static_cast<uint64_t>(in[i].i), 0x1BD11BDA12345678ull));
}

TEST_CASE("small floats on a target without them: every value, and arithmetic between them") {
  Pool pool;
  PoolScope scope(pool);
  Target target = plainTarget();
  target.supportsDtype = [](DType d) {
    return d.kind() == Scalar::Float32 || d.kind() == Scalar::Float64 || !d.isFloat();
  };
  for (DType d : {dtypes::float16, dtypes::bfloat16, dtypes::fp8e4m3, dtypes::fp8e5m2}) {
    CAPTURE(d.name());
    std::vector<ConstValue> all;
    int64_t step = d.itemsize() == 1 ? 1 : 7;
    for (int64_t bits = 0; bits < (d.itemsize() == 1 ? 256 : 65536); bits += step) {
      auto low = static_cast<uint16_t>(bits);
      double v = d == dtypes::float16    ? dtypes::fromHalf(low)
                 : d == dtypes::bfloat16 ? dtypes::fromBFloat16(low)
                                         : dtypes::fromFp8(d, static_cast<uint8_t>(bits));
      all.push_back(ConstValue::ofFloat(v));
    }
    auto compare = [&](const std::vector<ConstValue>& got, const std::function<double(double)>& wanted,
                       DType to) {
      int wrong = 0;
      for (size_t i = 0; i < all.size(); ++i) {
        double w = dtypes::roundFloat(to, wanted(all[i].f)), g = got[i].asDouble();
        bool same = g == w || (std::isnan(g) && std::isnan(w));
        if (!same && ++wrong < 4) MESSAGE(d.name() << " " << all[i].f << ": " << g << " instead of " << w);
      }
      CHECK(wrong == 0);
    };
    compare(
        mapValues(
            all, d, [](UOp v) { return v.cast(dtypes::float32); }, target),
        [](double v) { return v; }, dtypes::float32);
    compare(mapValues(all, d, [](UOp v) { return v + v; }, target), [](double v) { return v + v; }, d);
    DType bits = d.itemsize() == 1 ? dtypes::uint8 : dtypes::uint16;
    auto asBits = [&](double v) -> double {
      if (std::isnan(v)) return v; // there are many NaNs
      return d == dtypes::float16    ? dtypes::toHalf(v)
             : d == dtypes::bfloat16 ? dtypes::toBFloat16(v)
                                     : dtypes::toFp8(d, v);
    };
    std::vector<ConstValue> got = mapValues(all, d, [&](UOp v) { return v.bitcast(bits); }, target);
    int wrongBits = 0;
    for (size_t i = 0; i < all.size(); ++i)
      wrongBits += !std::isnan(all[i].f) && got[i].asDouble() != asBits(all[i].f);
    CHECK(wrongBits == 0);
    compare(
        mapValues(
            all, d, [&](UOp v) { return v * UOp::constant(d, 0.375); }, target),
        [](double v) { return v * 0.375; }, d);
  }
}
