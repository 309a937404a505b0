// Kernels written by hand: explicit ranges, several indices, order given by AFTER; and the messages about
// wrong kernels.
#include "engine/base/context_var.h"
#include "engine/codegen/opt.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/spec.h"
#include "engine/uop/sint.h"
#include "kernels.h"
#include "oracle.h"
#include "tests/engine/expected_error.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::test;
using namespace uopscope::testing;

namespace {

UOp shaped(UOp buffer, std::vector<Sint> shape) {
  return UOp::make(Op::RESHAPE, buffer.dtype(), {buffer, shapeToUOp(shape)});
}
bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a matrix product over shaped buffers with END inside END") {
  Pool pool;
  PoolScope scope(pool);
  UOp c = shaped(memory(0, 12), {3, 4}), a = shaped(memory(1, 15), {3, 5}), b = shaped(memory(2, 20), {5, 4});
  UOp i = UOp::range(3, 0), j = UOp::range(4, 1), k = UOp::range(5, 2, AxisType::Reduce);
  UOp product = a.indexed({i, k}, dtypes::float32) * b.indexed({k, j}, dtypes::float32);
  UOp sum = product.reduce(Op::ADD, std::vector<UOp>{k});
  KernelInfo info;
  info.name = "by_hand";
  UOp sink = UOp::sink(std::vector<UOp>{c.indexed({i, j}).store(sum).end({j}).end({i})}, Arg::of(info));
  // The same kernel in flat indices, for the oracle.
  Values start = randomBuffers(matmul(3, 4, 5), 2), wanted = start;
  Oracle(wanted, {}).run(matmul(3, 4, 5));
  for (int noopt : {0, 1}) {
    ContextScope settings({{"NOOPT", noopt}, {"SPEC", 1}});
    LoweredKernel lowered = lowerKernel(sink, plainTarget(4));
    CHECK(lowered.name == "by_hand");
    CHECK(runLowered(lowered, start, {}) == wanted);
  }
}

TEST_CASE("an accumulator written by hand in the output buffer") {
  Pool pool;
  PoolScope scope(pool);
  UOp out = memory(0, 4), in = memory(1, 24);
  UOp i = UOp::range(4, 0), k = UOp::range(6, 1, AxisType::Reduce);
  UOp zero = out.indexed({i}).store(UOp::constant(dtypes::float32, 0.0));
  UOp now = out.after(std::vector<UOp>{zero, k}).indexed({i}, dtypes::float32);
  UOp step = out.indexed({i}).store(now + read(in, i * 6 + k)).end({k});
  UOp sink = kernel({step.end({i})});
  Values start = randomBuffers(sink, 4);
  ContextScope settings({{"NOOPT", 1}, {"SPEC", 1}});
  Values after = runLowered(lowerKernel(sink, plainTarget()), start, {});
  for (size_t r = 0; r < 4; ++r) {
    double sum = 0;
    for (size_t x = 0; x < 6; ++x) sum += start[1][r * 6 + x].asDouble();
    CHECK(after[0][r].asDouble() == sum);
  }
}

TEST_CASE("stores side by side of any number of lanes, some of them gated") {
  Pool pool;
  PoolScope scope(pool);
  for (int64_t n = 1; n <= 33; ++n) {
    CAPTURE(n);
    UOp j = UOp::range(n, 1, AxisType::Upcast);
    UOp out = memory(0, 2 * n + 8), in = memory(1, n);
    UOp first = out.indexed({j}).store(read(in, j) + 1);
    UOp second = out.indexed({j + n}).store(read(in, j * -1 + (n - 1))); // backwards
    UOp third = out.indexed({(j + 2 * n).validWhere(j < std::min<int64_t>(n, 5))}).store(read(in, j) * 2);
    for (int lanes : {1, 8}) {
      ContextScope settings({{"SPEC", 1}, {"NOOPT", 1}});
      Target target = plainTarget(lanes);
      for (bool aligned : {false, true}) {
        target.alignedVectors = aligned;
        checkKernel(kernel({first.end({j}), second.end({j}), third.end({j})}), target);
      }
    }
  }
}

TEST_CASE("wrong kernels are told what is wrong with them") {
  Pool pool;
  PoolScope scope(pool);
  UOp i = UOp::range(4, 0);
  KernelInfo info;
  info.name = "wrong";
  UOp one = UOp::constant(dtypes::float32, 1.0);
  // The index of a store contains a range that only a different store closes.
  UOp j = UOp::range(4, 1);
  UOp open =
      UOp::sink(std::vector<UOp>{memory(0, 16).indexed({i * 4 + j}).store(one).end({i})}, Arg::of(info));
  std::string text = errorOf([&] { lowerKernel(open, plainTarget()); }, ErrorKind::Spec);
  CHECK(has(text, "'wrong'"));
  CHECK(has(text, "r1"));
  CHECK_FALSE(has(text, "r0"));
  // The same range closed twice.
  UOp twice = UOp::sink(std::vector<UOp>{memory(0, 16).indexed({i}).store(one).end({i, i})}, Arg::of(info));
  CHECK(has(errorOf([&] { lowerKernel(twice, plainTarget()); }, ErrorKind::Spec), "twice"));
  // Too few indices, and more than one, which would count the elements.
  UOp few =
      UOp::sink(std::vector<UOp>{memory(0, 16)
                                     .indexed({i})
                                     .store(shaped(memory(1, 16), {4, 2, 2}).indexed({i, i}, dtypes::float32))
                                     .end({i})},
                Arg::of(info));
  CHECK(has(errorOf([&] { lowerKernel(few, plainTarget()); }, ErrorKind::Spec), "2 indices"));
  // A node that is no kernel.
  CHECK(has(errorOf([&] { lowerKernel(one, plainTarget()); }, ErrorKind::Spec), "SINK"));
}

TEST_CASE("verification names the node, its neighbours and the pass") {
  Pool pool;
  PoolScope scope(pool);
  UOp a = UOp::constant(dtypes::float32, 1.0), b = UOp::constant(dtypes::int32, int64_t{1});
  UOp mixed = UOp::make(Op::ADD, dtypes::float32, {a, b});
  UOp sink = kernel({memory(0, 1).indexed({UOp::index(0)}).store(mixed)});
  std::string text = errorOf([&] { typeVerify(sink, SpecStage::Kernel, "some pass"); }, ErrorKind::Spec);
  for (const char* part : {"some pass", "ADD", "CONST dtypes.int", "used by: STORE"}) CHECK(has(text, part));
  UOp indexLeft = kernel({memory(0, 1).indexed({UOp::index(0)}).store(a)});
  CHECK_NOTHROW(typeVerify(indexLeft, SpecStage::Kernel, "p"));
  CHECK_THROWS_AS(typeVerify(indexLeft, SpecStage::Lowered, "p"), Error);
  // A program out of order.
  LoweredKernel k = lowerKernel(elementwise(4, [](UOp v) { return v + v; }), plainTarget());
  std::vector<UOp> program = k.uops;
  CHECK_NOTHROW(typeVerify(program));
  std::swap(program[program.size() - 2], program[program.size() - 3]);
  CHECK_THROWS_AS(typeVerify(program), Error);
}

TEST_CASE("verification refuses a sum that goes on from another turn of a loop around it") {
  Pool pool;
  PoolScope scope(pool);
  const auto program = [](bool isSetInLoop) {
    const UOp i = UOp::range(3, 0, AxisType::Loop, dtypes::int32),
              k = UOp::range(4, 1, AxisType::Reduce, dtypes::int32),
              zero = UOp::constant(dtypes::int32, int64_t{0}), acc = registersOf(dtypes::float32, 1, 0);
    const UOp start = isSetInLoop ? acc.after(std::vector<UOp>{i}) : acc;
    const UOp set = start.indexed({zero}).store(UOp::constant(dtypes::float32, 0.0));
    const UOp carried = acc.after(std::vector<UOp>{set, k}).indexed({zero});
    const UOp sum = carried.load() + memory(1, 12).indexed({i * 4 + k}).load();
    const UOp done = acc.after(std::vector<UOp>{carried.store(sum).end({k})}).indexed({zero}).load();
    return linearize(kernel({memory(0, 3).indexed({i}).store(done).end({i})}));
  };
  CHECK_NOTHROW(typeVerify(program(true)));
  const std::string text = errorOf([&] { typeVerify(program(false)); }, ErrorKind::Spec);
  for (const char* part : {"LOAD", "goes on from an earlier turn of RANGE"}) CHECK(has(text, part));
}

TEST_CASE("an option that does not fit is refused and says why") {
  Pool pool;
  PoolScope scope(pool);
  Target target = plainTarget();
  auto refusal = [&](const Opt& opt) {
    KernelOptimizer s(matmul(8, 6, 10), target);
    UOp before = s.ast();
    std::string text = errorOf([&] { s.apply(opt); }, ErrorKind::Compile);
    CHECK(s.ast() == before);
    CHECK(s.applied().empty());
    return text;
  };
  CHECK(has(refusal({OptOp::UPCAST, 0, {3}}), "3 does not divide 8"));
  CHECK(has(refusal({OptOp::UPCAST, 9, {2}}), "3 such axes"));
  CHECK(has(refusal({OptOp::UPCAST, 2, {2}}), "LOOP"));
  CHECK(has(refusal({OptOp::LOCAL, 0, {2}}), "work groups"));
  CHECK(has(refusal({OptOp::THREAD, 0, {2}}), "threads"));
  CHECK(has(refusal({OptOp::TC, 0, {0, 0, 1}}), "tensor cores"));
  CHECK(has(refusal({OptOp::PADTO, 0, {64}}), "quadruple"));
  KernelOptimizer s(matmul(8, 6, 10), target);
  s.apply({OptOp::UPCAST, 0, {4}});
  s.apply({OptOp::UNROLL, 0, {5}});
  CHECK(s.name() == "r_2_6_4_2_5");
  CHECK(s.optimized().arg().as<KernelInfo>().appliedOpts.size() == 2);
}
