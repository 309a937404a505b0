// CUDA kernels without NVIDIA's compiler: LLVM IR that computes what the interpreter computes, and PTX that ptxas accepts
// where it is installed. Every test says so and stops where the engine has no LLVM.
#include "engine/base/child_process.h"
#include "engine/render/gpu_text.h"
#include "engine/render/nvptx_renderer.h"
#include "engine/runtime/cuda_compiler.h"
#include "engine/runtime/llvm_gpu.h"
#include "tests/devices/hip_double/ir_on_cpu.h"
#include "tests/engine/codegen/kernels.h"
#include "tests/engine/codegen/oracle.h"
#include "tests/engine/runtime/gpu_kernel.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

/// Runs a kernel on float32 as IR and compares it with the interpreter.
void checkIr(UOp ast) {
  NvptxRenderer renderer(cudaLanguage().target());
  LoweredKernel k = lowerKernel(ast, renderer.target());
  PoolScope inner(*k.pool);
  const std::string source = renderer.render(k);
  CAPTURE(source);
  Values before = randomBuffers(k.ast, 5), wanted = runLowered(k, before, {});
  std::vector<std::vector<float>> memory;
  std::vector<void*> arguments;
  for (int g : k.globals) {
    memory.emplace_back();
    for (const ConstValue& v : before.at(g)) memory.back().push_back(static_cast<float>(v.asDouble()));
  }
  for (auto& m : memory) arguments.push_back(m.data());
  hip_double_launch launch{};
  launch.arguments = static_cast<const void*>(arguments.data());
  for (size_t axis = 0; axis < 3; ++axis) {
    launch.grid[axis] = axis < k.globalSize.size() ? static_cast<uint32_t>(k.globalSize[axis].i()) : 1;
    launch.block[axis] = axis < k.localSize.size() ? static_cast<uint32_t>(k.localSize[axis].i()) : 1;
  }
  IrOnCpu(k, source).launch(launch);
  for (size_t i = 0; i < memory[0].size(); ++i)
    REQUIRE(memory[0][i] == doctest::Approx(wanted.at(k.globals[0])[i].asDouble()).epsilon(1e-6));
}

} // namespace

TEST_CASE("NVPTX: texts of kernels compute what the interpreter computes") {
  if (llvmVersion().empty()) return;
  Pool pool;
  PoolScope scope(pool);
  checkIr(withOpts(elementwise(256, [](UOp x) { return x.alu(Op::EXP2) + x; }),
                   {{OptOp::UPCAST, 0, {4}}, {OptOp::LOCAL, 0, {16}}}));
  checkIr(withOpts(rowSums(8, 64), {{OptOp::GROUPTOP, 0, {16}}}));
  checkIr(withOpts(
      matmul(16, 16, 16),
      {{OptOp::LOCAL, 0, {4}}, {OptOp::LOCAL, 1, {4}}, {OptOp::UPCAST, 0, {2}}, {OptOp::UNROLL, 0, {4}}}));
}

TEST_CASE("NVPTX: kernels compile to PTX, which ptxas accepts where it is installed") {
  if (llvmVersion().empty()) return;
  Pool pool;
  PoolScope scope(pool);
  NvptxRenderer renderer(cudaLanguage().target());
  const std::string ptxas = findProgram("ptxas", "/usr/local/cuda/bin");
  struct Case {
    UOp ast;
    std::vector<const char*> words;
  };
  const std::vector<Case> cases{
      {elementwise(65536, [](UOp x) { return x.alu(Op::EXP2) + x.alu(Op::SIN) + x.alu(Op::SQRT); }),
       {"ld.global.v4.f32", "st.global.v4.f32", "sqrt.rn.f32", ".maxntid"}},
      {squareProduct(dtypes::float32, 256), {"bar.sync", "ld.shared.v", "fma.rn.f32"}},
      {squareProduct(dtypes::float16, 128), {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}},
      {squareProduct(dtypes::bfloat16, 64), {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"}}};
  for (const Case& c : cases) {
    LoweredKernel k = lowerKernel(c.ast, renderer.target());
    PoolScope inner(*k.pool);
    const std::string source = renderer.render(k);
    CAPTURE(source);
    for (const char* architecture : {"sm_80", "sm_90", "sm_100"}) {
      const cuda::Binary made = cuda::compileIr(k.name, source, architecture);
      CAPTURE(made.ptx);
      for (const char* word : c.words) CHECK_MESSAGE(made.ptx.find(word) != std::string::npos, word);
      CHECK(made.ptx.find(".entry " + k.name) != std::string::npos);
      if (ptxas.empty()) continue;
      const InputFile file(made.ptx);
      FinishedChild run =
          runProgram({ptxas, "-arch=" + std::string(architecture), file.path(), "-o", "/dev/null"});
      CHECK_MESSAGE(run.succeeded(), run.out, run.err);
    }
  }
  std::vector<AssemblyLine> lines;
  LoweredKernel k = addNumber(8);
  const std::string source = renderer.render(k),
                    text = cuda::sass(cuda::compileIr(k.name, source, "sm_90"), &lines);
  CAPTURE(text);
  CHECK(text.find(".loc") == std::string::npos);
  CHECK(lines.size() > 5);
  CHECK(messageOf([&] {
          cuda::compileIr("bad", "define ptx_kernel void @bad() {\n  nonsense\n}\n", "sm_90");
        }).find("kernel bad: LLVM does not take it") == 0);
}
