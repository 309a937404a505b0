// The texts of kernels for AMD compute what the reference interpreter computes from the same linear programs. The texts
// go through the whole device, down to a double of HIP's library, and run as IR on the CPU (ir_on_cpu.h).
#include "engine/render/amd_renderer.h"
#include "tests/devices/hip_double/ir_on_cpu.h"
#include "tests/engine/codegen/kernels.h"
#include "tests/engine/codegen/oracle.h"
#include "tests/engine/runtime/amd_double.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

/// Lowers, compiles, launches on the double, and compares with the interpreter.
void checkOnDouble(UOp ast, const std::map<std::string, int64_t>& vars = {}, double tolerance = 0) {
  Device& amd = Device::get("AMD");
  Target target = amd.renderer().target();
  target.tensorCores.clear();
  LoweredKernel k = lowerKernel(ast, target);
  PoolScope inner(*k.pool);
  Values before = randomBuffers(k.ast, 5), wanted = runLowered(k, before, vars);
  const std::string source = amd.renderer().render(k);
  CAPTURE(source);
  auto program = amd.compile(k, source);
  const RunsAsIr running(k, source);

  std::map<int64_t, DType> types;
  for (UOp u : k.ast.toposort())
    if (u.is(Op::DEFINE_GLOBAL)) types[u.arg().i()] = u.dtype().base();
  std::vector<void*> memory;
  for (int g : k.globals) {
    const auto width = static_cast<size_t>(types.at(g).itemsize());
    std::vector<std::byte> bytes(before.at(g).size() * width);
    for (size_t i = 0; i < before.at(g).size(); ++i)
      put(bytes.data() + i * width, types.at(g), before.at(g)[i]);
    memory.push_back(amd.allocate(bytes.size()));
    amd.copyIn(memory.back(), bytes.data(), bytes.size());
  }
  const std::vector<std::pair<std::string, int64_t>> known(vars.begin(), vars.end());
  std::vector<int64_t> groups, threads, values;
  for (const Sint& s : k.globalSize) groups.push_back(evaluate(s, known));
  for (const Sint& s : k.localSize) threads.push_back(evaluate(s, known));
  for (UOp v : k.vars) values.push_back(vars.at(v.arg().as<VarArg>().name));
  program->launch(memory, values, groups, threads, true);
  for (size_t b = 0; b < memory.size(); ++b) {
    const int g = k.globals[b];
    const auto width = static_cast<size_t>(types.at(g).itemsize());
    std::vector<std::byte> bytes(before.at(g).size() * width);
    amd.copyOut(bytes.data(), memory[b], bytes.size());
    amd.release(memory[b], bytes.size());
    for (size_t i = 0; i < wanted.at(g).size(); ++i) {
      const double got = get(bytes.data() + i * width, types.at(g)).asDouble(),
                   want = wanted.at(g)[i].asDouble();
      const bool same = got == want || std::abs(got - want) <= tolerance * std::max(1.0, std::abs(want));
      CAPTURE(i);
      CAPTURE(got);
      CAPTURE(want);
      REQUIRE(same);
    }
  }
}

} // namespace

TEST_CASE("AMD: texts of kernels compute what the interpreter computes") {
  if (!amdDoubleHere()) return;
  Pool pool;
  PoolScope scope(pool);
  checkOnDouble(withOpts(elementwise(256, [](UOp x) { return x.alu(Op::EXP2) + x; }),
                         {{OptOp::UPCAST, 0, {4}}, {OptOp::LOCAL, 0, {16}}}),
                {}, 1e-6);
  checkOnDouble(elementwise(48, [](UOp x) { return x * x; }, dtypes::bfloat16));
  checkOnDouble(withOpts(rowSums(8, 64), {{OptOp::GROUPTOP, 0, {16}}})); // shared memory, a barrier
  checkOnDouble(rowSums(4, 512));
  checkOnDouble(rowSums(6, 35, Op::MAX, dtypes::int16));
  checkOnDouble(withOpts(matmul(16, 16, 16), {{OptOp::LOCAL, 0, {4}},
                                              {OptOp::LOCAL, 1, {4}},
                                              {OptOp::UPCAST, 0, {2}},
                                              {OptOp::UNROLL, 0, {4}}})); // operands in shared memory
  checkOnDouble(matmul(64, 64, 64));                                      // several results a thread
  checkOnDouble(withOpts(matmul(8, 8, 12), {{OptOp::NOLOCALS, -1, {}}}));

  UOp i = UOp::range(40, 0);
  UOp padded = testing::read(memory(1, 36, dtypes::float16), (i - 4).validWhere(i >= 4)); // a gated load
  checkOnDouble(withOpts(testing::kernel({memory(0, 40, dtypes::float16)
                                              .indexed({i})
                                              .store(padded * UOp::constant(dtypes::float16, 0.5))
                                              .end({i})}),
                         {{OptOp::LOCAL, 0, {8}}}));
  UOp n = UOp::variable("n", 1, 30), j = UOp::range(n, {0});
  UOp small = testing::read(memory(1, 30, dtypes::int8), j),
      flag = testing::read(memory(2, 30, dtypes::bool_), j);
  checkOnDouble(withOpts(testing::kernel({memory(0, 30, dtypes::int8)
                                              .indexed({j})
                                              .store(flag.where(small * small.constLike(int64_t{3}), small))
                                              .end({j})}),
                         {}),
                {{"n", 21}});
}

TEST_CASE("AMD: products on tensor cores are right for the layouts in AMD's documents") {
  Pool pool;
  PoolScope scope(pool);
  if (!makeLlvmCompiler()) return;
  for (const char* architecture : {"gfx90a", "gfx942", "gfx1100"})
    for (DType type : {dtypes::float16, dtypes::bfloat16})
      for (int64_t n : {16, 32, 64}) {
        CAPTURE(architecture);
        CAPTURE(type.name());
        CAPTURE(n);
        UOp i = UOp::range(n, 0), j = UOp::range(n, 1), t = UOp::range(n, 2, AxisType::Reduce);
        UOp term = testing::read(memory(1, n * n, type), i * n + t) *
                   testing::read(memory(2, n * n, type), t * n + j);
        UOp ast = testing::kernel({memory(0, n * n)
                                       .indexed({i * n + j})
                                       .store(term.cast(dtypes::float32).reduce(Op::ADD, std::vector<UOp>{t}))
                                       .end({i, j})});
        Values before = randomBuffers(ast, 3), wanted = before;
        Oracle(wanted, {}).run(ast);
        AmdRenderer renderer(amdTarget(architecture));
        LoweredKernel k = lowerKernel(ast, renderer.target());
        PoolScope inner(*k.pool);
        CHECK(std::any_of(k.uops.begin(), k.uops.end(), [](UOp u) { return u.is(Op::WMMA); }));
        const std::string source = renderer.render(k);
        CAPTURE(source);
        std::vector<float> out(static_cast<size_t>(n * n));
        std::vector<std::byte> left(out.size() * 2), right(out.size() * 2);
        for (size_t e = 0; e < out.size(); ++e) {
          put(left.data() + 2 * e, type, before.at(1)[e]);
          put(right.data() + 2 * e, type, before.at(2)[e]);
        }
        void* arguments[] = {out.data(), left.data(), right.data()};
        hip_double_launch launch{};
        launch.arguments = static_cast<const void*>(arguments);
        for (size_t axis = 0; axis < 3; ++axis) {
          launch.grid[axis] = axis < k.globalSize.size() ? static_cast<uint32_t>(k.globalSize[axis].i()) : 1;
          launch.block[axis] = axis < k.localSize.size() ? static_cast<uint32_t>(k.localSize[axis].i()) : 1;
        }
        IrOnCpu(k, source).launch(launch);
        for (size_t e = 0; e < out.size(); ++e)
          REQUIRE(out[e] == static_cast<float>(wanted.at(0)[e].asDouble()));
      }
}
