// Series that use functions of the machine give, bit by bit, what the series without them give; and the functions' own values.
#include "engine/base/context_var.h"
#include "engine/codegen/machine_functions.h"
#include "engine/render/c_renderer.h"
#include "engine/render/llvm_renderer.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

Target seriesTarget(bool takesFloatsApart) {
  Target t = plainTarget(16);
  t.maxVectorLanes = 16;
  t.takesFloatsApart = takesFloatsApart;
  t.nativeOps = (group::kAlu - OpSet{Op::THREEFRY, Op::POW, Op::EXP2, Op::LOG2, Op::SIN});
  return t;
}

double valueOf(MachineFunction f, double x, double y = 0) {
  const std::array operands{ConstValue::ofFloat(x), ConstValue::ofFloat(y)};
  return evalMachineFunction(f, dtypes::float32, operands).asDouble();
}

int64_t callsOf(const LoweredKernel& k) {
  return std::ranges::count_if(k.uops, [](UOp u) { return machineFunctionOf(u).has_value(); });
}

/// Numbers of every exponent, both ends of each function, and what is no number, a multiple of 64 of them.
std::vector<ConstValue> numbersOf(DType d) {
  std::vector<double> all{0.0,  -0.0, kInf,     -kInf,     std::nan(""), 1,       -1,
                          0.75, 1.5,  0x1p-149, 0x1p-1074, 0x1.8p-149,   0x1p-126};
  for (double edge : {88.7228, 103.97, 104.0, 128.0, 149.0, 150.0, 151.9, 152.1, 300.0, 709.78, 745.1, 1024.0,
                      1074.0, 1076.9, 1e4})
    all.insert(all.end(), {edge, -edge});
  const int most = d == dtypes::float64 ? 1023 : 127;
  for (int e = -most - 20; e <= most; ++e)
    for (const double m : {1.0, 1.0 + 0x1p-20, 1.25, 1.4999999, 1.5, 1.9999})
      all.insert(all.end(), {std::ldexp(m, e), -std::ldexp(m, e)});
  for (int i = -2000; i <= 2000; ++i) all.push_back(i * 0.3781);
  for (int i = -300; i <= 300; ++i) all.push_back(i * 0.0017);
  while (all.size() % 64) all.push_back(2);
  std::vector<ConstValue> numbers;
  for (double v : all) numbers.push_back(convertConst(d, ConstValue::ofFloat(v)));
  return numbers;
}

using Function = std::function<UOp(UOp)>;
std::vector<std::pair<const char*, Function>> functions() {
  const auto scaled = [](double c) {
    return [c](UOp v) { return (v * UOp::constant(v.dtype(), c)).alu(Op::EXP2); };
  };
  const double e = 1 / std::numbers::ln2;
  return {{"exp2", [](UOp v) { return v.alu(Op::EXP2); }},
          {"exp", scaled(e)},
          {"decay", scaled(-e)},
          {"log2", [](UOp v) { return v.alu(Op::LOG2); }},
          {"log2 of 1 + x", [](UOp v) { return (v + UOp::constant(v.dtype(), 1.0)).alu(Op::LOG2); }},
          {"log2 of 1 - x", [](UOp v) {
             return (UOp::constant(v.dtype(), 1.0) + v * UOp::constant(v.dtype(), -1.0)).alu(Op::LOG2);
           }}};
}

Values valuesOf(const LoweredKernel& k, const std::vector<ConstValue>& in, DType d) {
  Values before;
  before[1] = in;
  before[0].assign(in.size(), convertConst(d, ConstValue::ofInt(0)));
  return runLowered(k, before, {});
}

} // namespace

TEST_CASE("functions of the machine: exponents, mantissas and scaled numbers") {
  using enum MachineFunction;
  CHECK(valueOf(Exponent, 8) == 3);
  CHECK(valueOf(Exponent, -7.9) == 2);
  CHECK(valueOf(Exponent, 0x1p-149) == -149);
  CHECK(valueOf(Exponent, 0) == -kInf);
  CHECK(valueOf(Exponent, -kInf) == kInf);
  CHECK(std::isnan(valueOf(Exponent, std::nan(""))));
  CHECK(valueOf(Mantissa, 8) == 1);
  CHECK(valueOf(Mantissa, 1.5) == 0.75);
  CHECK(valueOf(Mantissa, 0x1.fffffep+9) == 0x1.fffffep-1);
  CHECK(valueOf(Mantissa, 0x1.4p-140) == 1.25);
  CHECK(valueOf(Mantissa, kInf) == 1);
  CHECK(std::isnan(valueOf(Mantissa, -2)));
  CHECK(valueOf(Scaled, 1.5, 3.9) == 12);
  CHECK(valueOf(Scaled, 1, -0.1) == 0.5);
  CHECK(valueOf(Scaled, 1, -149) == 0x1p-149);
  CHECK(valueOf(Scaled, 1.25, -150) == 0x1p-149);
  CHECK(valueOf(Scaled, 1, 1e30) == kInf);
  CHECK(valueOf(Scaled, -1, -1e30) == 0);
  CHECK(std::isnan(valueOf(Scaled, 0, kInf)));
}

TEST_CASE("logarithms and powers by functions of the machine have the bits of the series without them") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  for (const DType d : {dtypes::float32, dtypes::float64})
    for (const auto& [name, f] : functions()) {
      CAPTURE(name);
      CAPTURE(d.name());
      const std::vector<ConstValue> in = numbersOf(d);
      const UOp sink = elementwise(static_cast<int64_t>(in.size()), f, d);
      const LoweredKernel plain = lowerKernel(sink, seriesTarget(false)),
                          by = lowerKernel(sink, seriesTarget(true));
      CHECK(callsOf(plain) == 0);
      CHECK(callsOf(by) > 0);
      CHECK(by.uops.size() < plain.uops.size());
      const auto wanted = valuesOf(plain, in, d)[0], got = valuesOf(by, in, d)[0];
      for (size_t i = 0; i < in.size(); ++i) {
        const double a = wanted[i].asDouble(), b = got[i].asDouble();
        if (std::isnan(a) && std::isnan(b)) continue;
        CAPTURE(in[i].f);
        REQUIRE(std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b));
      }
    }
}

TEST_CASE("functions of the machine are calls in C and in LLVM IR, of vectors of a register or in halves") {
  Pool pool;
  PoolScope scope(pool);
  const auto log2 = [](UOp v) { return v.alu(Op::LOG2); };
  const LoweredKernel narrow = lowerKernel(elementwise(64, log2), seriesTarget(true)),
                      wide = lowerKernel(elementwise(64, log2, dtypes::float64), seriesTarget(true));
  const std::string c = CRenderer(seriesTarget(true)).render(narrow);
  CHECK(c.find("__builtin_ia32_getmantps512_mask(x, 11, x, -1, 4)") != std::string::npos);
  CHECK(c.find("getexp_float16(") != std::string::npos);
  const std::string ir = LlvmRenderer(seriesTarget(true)).render(narrow);
  CHECK(ir.find("@llvm.x86.avx512.mask.getexp.ps.512(<16 x float>, <16 x float>, i16, i32)") !=
        std::string::npos);
  CHECK(LlvmRenderer(seriesTarget(true)).render(wide).find("getmant.pd.512") != std::string::npos);
  // A lane alone, or a vector that is no power of two wide, is computed by the series.
  CHECK(!hasMachineFunctions(seriesTarget(true), dtypes::float32));
  CHECK(!hasMachineFunctions(seriesTarget(true), dtypes::float32.vec(12)));
  CHECK(!hasMachineFunctions(seriesTarget(true), dtypes::float16.vec(16)));
  CHECK(!hasMachineFunctions(seriesTarget(false), dtypes::float32.vec(16)));
}
