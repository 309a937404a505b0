// The texts of kernels for AMD compute what the reference interpreter computes from the same linear programs. The texts
// go through the whole device, down to a double of HIP's library, and run as IR on the CPU (ir_on_cpu.h).
#include "tests/devices/hip_double/ir_on_cpu.h"
#include "tests/engine/codegen/kernels.h"
#include "tests/engine/codegen/oracle.h"
#include "tests/engine/runtime/amd_double.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

UOp withOpts(UOp ast, std::vector<Opt> opts) {
  KernelInfo info;
  info.hasOptsToApply = true;
  info.optsToApply = std::move(opts);
  return ast.withArg(Arg::of(info));
}

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
