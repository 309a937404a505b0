// The output of renderers: golden texts of a few kernels (UPDATE_GOLDEN=1 writes them anew), and error
// messages.
#include "engine/base/error.h"
#include "engine/render/c_renderer.h"
#include "engine/render/llvm_renderer.h"
#include "engine/render/signature.h"
#include "tests/engine/render/golden_text.h"
#include "tests/engine/render/linear_program.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::test;

namespace {

LoweredKernel elementwiseProgram() {
  LinearProgram p("E_4_4");
  UOp out = p.global(0, dtypes::float32, 16), a = p.global(1, dtypes::float32, 16),
      b = p.global(2, dtypes::float32, 16);
  UOp r = p.range(4, 0), at = p.add(Op::MUL, dtypes::int32, {r, p.i32(4)});
  UOp x = p.load(a, at, 4), y = p.load(b, at, 4);
  std::vector<UOp> lanes;
  for (int64_t l = 0; l < 4; ++l) {
    UOp gx = p.add(Op::GEP, dtypes::float32, {x}, Arg::of(std::vector<int64_t>{l})),
        gy = p.add(Op::GEP, dtypes::float32, {y}, Arg::of(std::vector<int64_t>{l}));
    lanes.push_back(p.add(
        Op::MAX, dtypes::float32,
        {p.add(Op::ADD, dtypes::float32, {gx, gy}), p.constant(dtypes::float32, ConstValue::ofFloat(0))}));
  }
  p.store(out, at, p.add(Op::VECTORIZE, dtypes::float32.vec(4), lanes));
  p.end(r);
  return p.finish();
}

LoweredKernel matmulProgram() {
  LinearProgram p("r_8_8_8");
  UOp out = p.global(0, dtypes::float32, 64), a = p.global(1, dtypes::float32, 64),
      b = p.global(2, dtypes::float32, 64);
  UOp acc = p.reg(dtypes::float32, 1), zero = p.i32(0), eight = p.i32(8);
  UOp i = p.range(8, 0), j = p.range(8, 1);
  UOp row = p.add(Op::MUL, dtypes::int32, {i, eight});
  UOp cleared = p.store(acc, zero, p.constant(dtypes::float32, ConstValue::ofFloat(0)));
  UOp k = p.range(8, 2, AxisType::Reduce);
  UOp running = p.add(Op::AFTER, acc.dtype(), {acc, cleared, k});
  UOp x = p.load(a, p.add(Op::ADD, dtypes::int32, {row, k}));
  UOp y = p.load(b, p.add(Op::ADD, dtypes::int32, {p.add(Op::MUL, dtypes::int32, {k, eight}), j}));
  p.store(running, zero,
          p.add(Op::ADD, dtypes::float32, {p.load(running, zero), p.add(Op::MUL, dtypes::float32, {x, y})}));
  p.end(k);
  UOp result = p.load(acc, zero);
  p.store(out, p.add(Op::ADD, dtypes::int32, {row, j}), result);
  p.end(j);
  p.end(i);
  return p.finish();
}

/// Padding: a gated load, a variable extent, bool and half, a condition around a store.
LoweredKernel gatedProgram() {
  LinearProgram p("E_n");
  UOp out = p.global(0, dtypes::float16, 100), a = p.global(1, dtypes::float16, 90),
      flags = p.global(2, dtypes::bool_, 100);
  UOp n = p.variable("n", 0, 100), i = p.range(n, 0);
  UOp shifted = p.add(Op::SUB, dtypes::int32, {i, p.i32(5)});
  UOp inside = p.add(
      Op::AND, dtypes::bool_,
      {p.add(Op::CMPLT, dtypes::bool_, {p.i32(4), i}), p.add(Op::CMPLT, dtypes::bool_, {i, p.i32(95)})});
  UOp v = p.gatedLoad(a, shifted, inside, p.constant(dtypes::float16, ConstValue::ofFloat(0)));
  UOp condition = p.add(Op::IF, dtypes::void_, {p.load(flags, i)});
  p.store(out, i,
          p.add(Op::MUL, dtypes::float16, {v, p.constant(dtypes::float16, ConstValue::ofFloat(0.1))}));
  p.add(Op::ENDIF, dtypes::void_, {condition});
  p.end(i);
  return p.finish();
}

/// Whole vectors: a scalar for every lane, a selection by a comparison, bools stored as bytes.
LoweredKernel vectorsProgram() {
  LinearProgram p("E_2_8");
  DType f8 = dtypes::float32.vec(8), b8 = dtypes::bool_.vec(8);
  UOp out = p.global(0, dtypes::float32, 16), a = p.global(1, dtypes::float32, 16),
      flags = p.global(2, dtypes::bool_, 16);
  UOp slope = p.load(p.global(3, dtypes::float32, 1), p.i32(0));
  UOp r = p.range(2, 0), at = p.add(Op::SHL, dtypes::int32, {r, p.i32(3)});
  UOp x = p.load(a, at, 8);
  UOp zero =
      p.add(Op::VECTORIZE, f8, std::vector<UOp>(8, p.constant(dtypes::float32, ConstValue::ofFloat(0))));
  UOp slopes = p.add(Op::VECTORIZE, f8, std::vector<UOp>(8, slope));
  UOp negative = p.add(Op::CMPLT, b8, {x, zero}), large = p.add(Op::CMPLT, b8, {slopes, x});
  UOp leaky = p.add(Op::WHERE, f8, {negative, p.add(Op::MUL, f8, {x, slopes}), x});
  p.store(flags, at, large);
  UOp sum = p.add(Op::ADD, f8, {p.add(Op::ADD, f8, {leaky, slopes}), p.add(Op::CAST, f8, {large})});
  p.store(out, at, p.add(Op::MAX, f8, {p.add(Op::SQRT, f8, {sum}), x}));
  p.end(r);
  return p.finish();
}

} // namespace

TEST_CASE("the C of a few kernels is as it was") {
  CRenderer c(cpuTarget("C"));
  checkGolden("elementwise.c", c.render(elementwiseProgram()));
  checkGolden("matmul.c", c.render(matmulProgram()));
  checkGolden("gated.c", c.render(gatedProgram()));
  checkGolden("vectors.c", c.render(vectorsProgram()));
}

TEST_CASE("the LLVM IR of a few kernels is as it was") {
  LlvmRenderer l(cpuTarget("LLVM"));
  checkGolden("elementwise.ll", l.render(elementwiseProgram()));
  checkGolden("matmul.ll", l.render(matmulProgram()));
  checkGolden("gated.ll", l.render(gatedProgram()));
  checkGolden("vectors.ll", l.render(vectorsProgram()));
}

TEST_CASE(
    "LLVM IR: places at constant distances are offsets of one address, if neither term may be negative") {
  LinearProgram p("E_4");
  UOp out = p.global(0, dtypes::float32, 256), a = p.global(1, dtypes::float32, 256);
  UOp r = p.range(4, 0), at = p.add(Op::MUL, dtypes::int32, {r, p.i32(64)});
  UOp ahead = p.add(Op::ADD, dtypes::int32, {at, p.i32(16)}),
      one = p.add(Op::ADD, dtypes::int32, {r, p.i32(1)});
  UOp behind = p.add(Op::ADD, dtypes::int32, {p.add(Op::MUL, dtypes::int32, {one, p.i32(8)}), p.i32(-8)});
  p.store(out, ahead, p.load(a, behind));
  p.end(r);
  std::string text = LlvmRenderer(cpuTarget("LLVM")).render(p.finish());
  CHECK(text.find(", i64 16") != std::string::npos);
  CHECK(text.find(", i64 -8") == std::string::npos);
}

TEST_CASE("a range nobody closed is an error, not C with a missing brace") {
  LinearProgram p("open");
  UOp out = p.global(0, dtypes::int32, 4), i = p.range(4, 0);
  p.store(out, i, i);
  LoweredKernel k = p.finish();
  for (auto render : {+[](const LoweredKernel& k) { return CRenderer(cpuTarget("C")).render(k); },
                      +[](const LoweredKernel& k) { return LlvmRenderer(cpuTarget("LLVM")).render(k); }}) {
    try {
      render(k);
      FAIL("rendered");
    } catch (const Error& e) {
      CHECK(e.kind() == ErrorKind::Compile);
      CHECK(std::string(e.what()).find("RANGE or IF without its END") != std::string::npos);
    }
  }
}

TEST_CASE("text of CUSTOM is filled in as Python's format does") {
  std::vector<std::string> a{"x", "y"};
  CHECK(formatCustom("f({}, {})", a) == "f(x, y)");
  CHECK(formatCustom("{1} = {{{0}}};", a) == "y = {x};");
  CHECK_THROWS_AS(formatCustom("{2}", a), Error);
  CHECK_THROWS_AS(formatCustom("{", a), Error);
  CHECK_THROWS_AS(formatCustom("{a}", a), Error);
}

TEST_CASE("parameters: buffers by position, variables by name, core_id last") {
  LinearProgram p("signature");
  UOp core = p.variable("core_id", 0, 3), z = p.variable("z", 0, 9), b = p.variable("b", 0, 9);
  UOp two = p.global(2, dtypes::int32, 16), zero = p.global(0, dtypes::int32, 16);
  p.store(zero, core, p.add(Op::ADD, dtypes::int32, {p.load(two, z), b}));
  LoweredKernel k = p.finish();
  KernelSignature s = signatureOf(k);
  CHECK(s.globals == std::vector{zero, two});
  CHECK(s.vars == std::vector{b, z});
  CHECK(s.varSlots == std::vector{2, 1});
  CHECK(s.hasCoreId());
  std::string text = CRenderer(cpuTarget("C")).render(k);
  CHECK(text.find("void signature(int* restrict data0_16, const int* restrict data2_16, int b, int z, int "
                  "core_id) {") != std::string::npos);
}
