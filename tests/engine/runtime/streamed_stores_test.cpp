// Stores past the caches, run on this machine: both compilers, results anywhere in memory, and nothing written beside them.
#include "engine/codegen/streamed_stores.h"
#include "engine/render/c_renderer.h"
#include "engine/render/llvm_renderer.h"
#include "engine/render/signature.h"
#include "engine/runtime/kernel_code.h"
#include "engine/runtime/processor.h"
#include "tests/engine/codegen/kernels.h"

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

/// This processor with a last cache of 16 kB.
Target smallCache(const std::string& suffix) {
  Target t = cpuTarget(suffix);
  t.aluLanes = t.maxVectorLanes = processor().lanes;
  t.hasThreads = false;
  t.cacheBytes = 16 << 10;
  return t;
}

} // namespace

TEST_CASE("a streamed result lies where it should, however its memory is aligned") {
  Pool pool;
  PoolScope scope(pool);
  constexpr int64_t kSize = 4096, kAround = 64;
  for (const bool isC : {true, false}) {
    CAPTURE(isC);
    const std::unique_ptr<KernelCompiler> compiler = isC ? makeClangCompiler() : makeLlvmCompiler();
    if (!compiler) continue;
    const Target target = smallCache(isC ? "C" : "LLVM");
    const LoweredKernel k =
        lowerKernel(elementwise(kSize, [](UOp x) { return x + UOp::constant(x.dtype(), 1.0); }), target);
    REQUIRE(std::ranges::any_of(k.uops, isStreamed));
    const std::string source = isC ? CRenderer(target).render(k) : LlvmRenderer(target).render(k);
    const auto code = compiler->compile(identifier(k.name), signatureOf(k), source);
    std::vector<float> in(kSize);
    std::iota(in.begin(), in.end(), 0.0f);
    for (int64_t offset = 0; offset < 17; ++offset) {
      CAPTURE(offset);
      std::vector<float> out(kSize + 2 * kAround, -1);
      float* const result = out.data() + kAround + offset;
      void* const buffers[] = {result, in.data()};
      code->entry()(buffers, nullptr, 0);
      bool isRight = true;
      for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i) {
        const int64_t at = i - kAround - offset;
        isRight &=
            out[static_cast<size_t>(i)] == (at >= 0 && at < kSize ? static_cast<float>(at) + 1 : -1.0f);
      }
      CHECK(isRight);
    }
  }
}

TEST_CASE("the machine tells its caches, the larger behind the smaller") {
  const int64_t first = cacheBytes(1, 0), second = cacheBytes(2, 0), last = cacheBytes(3, 0);
  if (first && second) CHECK(first < second);
  if (second && last) CHECK(second < last);
  CHECK(cacheBytes(77, 123) == 123);
}
