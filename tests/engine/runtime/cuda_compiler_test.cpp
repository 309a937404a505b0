// NVRTC needs no GPU: kernels of every kind compile for three generations, their machine code can be read,
// and an error names its line. Every test says so and stops where the library is not installed.
#include "engine/base/error.h"
#include "engine/render/gpu_text.h"
#include "engine/runtime/cuda_compiler.h"
#include "tests/engine/codegen/kernels.h"
#include "tests/engine/runtime/gpu_here.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

constexpr const char* kCudaAdd =
    "extern \"C\" __global__ void add(float* a) {\n  a[threadIdx.x] = a[threadIdx.x] + 1.0f;\n}\n";

bool cudaCompilerHere() {
  return compilerHere([] { cuda::compile("add", kCudaAdd, "sm_90"); });
}

} // namespace

TEST_CASE("CUDA kernels compile for three generations of GPUs, tensor cores and small types included") {
  if (!cudaCompilerHere()) return;
  Pool pool;
  PoolScope scope(pool);
  auto renderer = makeGpuRenderer("CUDA");
  std::vector<UOp> kernels{
      elementwise(256, [](UOp x) { return x.alu(Op::EXP2) + x.alu(Op::SIN) + x.alu(Op::SQRT); }),
      rowSums(8, 512), squareProduct(dtypes::float32, 128), squareProduct(dtypes::float16, 128),
      squareProduct(dtypes::bfloat16, 64),
      // Operands of tensor cores in shared memory, asynchronous copies, blocks in bands.
      squareProduct(dtypes::float16, 4096), squareProduct(dtypes::float16, 4096, true)};
  for (UOp ast : kernels) {
    LoweredKernel k = lowerKernel(ast, renderer->target());
    PoolScope inner(*k.pool);
    std::string source = renderer->render(k);
    for (const char* architecture : {"sm_80", "sm_90", "sm_100"}) {
      CAPTURE(architecture);
      CAPTURE(source);
      cuda::Binary made = cuda::compile(k.name, source, architecture);
      CHECK(made.image.size() > 500);
      CHECK(made.ptx.find(".entry " + k.name) != std::string::npos);
      CHECK(made.resources.find("registers a thread, 0 bytes spilled") != std::string::npos);
    }
  }
}

TEST_CASE("products by wgmma compile for sm_90a, without spilling and without remarks of ptxas") {
  if (!cudaCompilerHere()) return;
  Pool pool;
  PoolScope scope(pool);
  auto renderer = makeGpuRenderer(cudaLanguage("sm_90a"), cudaLanguage("sm_90a").target());
  for (DType type : {dtypes::float16, dtypes::bfloat16})
    for (bool left : {false, true})
      for (bool right : {false, true})
        for (int64_t size : {1024, 4096}) {
          CAPTURE(left);
          CAPTURE(right);
          CAPTURE(size);
          LoweredKernel k = lowerKernel(squareProduct(type, size, left, right), renderer->target());
          PoolScope inner(*k.pool);
          const std::string source = renderer->render(k);
          const cuda::Binary made = cuda::compile(k.name, source, "sm_90a");
          CAPTURE(made.resources);
          CHECK(source.find("wgmma.mma_async") != std::string::npos);
          CHECK(made.resources.find("registers a thread, 0 bytes spilled") != std::string::npos);
          CHECK(made.resources.find("C75") == std::string::npos);
          // The text is of sm_90a alone.
          CHECK_THROWS_AS(cuda::compile(k.name, source, "sm_90"), Error);
        }
}

TEST_CASE("a listing of CUDA leads back to the lines of the source") {
  if (!cudaCompilerHere()) return;
  std::vector<AssemblyLine> lines;
  std::string text = cuda::sass(cuda::compile("add", kCudaAdd, "sm_90"), &lines);
  CAPTURE(text);
  CHECK(text.find("registers a thread") != std::string::npos);
  CHECK(text.find("kernel.cu") == std::string::npos);
  REQUIRE(!lines.empty());
  size_t count = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  CHECK(std::all_of(lines.begin(), lines.end(),
                    [&](AssemblyLine l) { return l.line <= count && l.source <= 3; }));
  CHECK(std::any_of(lines.begin(), lines.end(), [](AssemblyLine l) { return l.source == 2; }));
}

TEST_CASE("NVRTC's errors name the kernel and the line") {
  if (!cudaCompilerHere()) return;
  std::string message;
  try {
    cuda::compile("bad", "extern \"C\" __global__ void bad() {\n  int x = nonsense;\n}\n", "sm_90");
  } catch (const Error& e) {
    message = e.what();
  }
  CAPTURE(message);
  CHECK(message.find("kernel bad: NVRTC does not compile it for sm_90") == 0);
  CHECK(message.find("line 2:   int x = nonsense;") != std::string::npos);
  CHECK_THROWS_WITH_AS(cuda::compile("add", kCudaAdd, "sm_20"), doctest::Contains("begins with sm_"), Error);
}
