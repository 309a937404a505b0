// What the text of a tile tells LLVM: its loop is not written out, and rounds of shuffles end in fences. LLVM compiles the text.
#include "engine/base/context_var.h"
#include "engine/codegen/codegen.h"
#include "engine/render/c_renderer.h"
#include "engine/render/llvm_renderer.h"
#include "tests/engine/codegen/kernels.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

/// out[i,j] = sum over k of a[i,k] * b[k * apart + j * beside], in float32, with 32 columns by `rows` rows a tile.
std::string textOf(int64_t rows, DType type, int64_t apart, int64_t beside) {
  UOp i = UOp::range(int64_t{128}, 0), j = UOp::range(int64_t{64}, 1),
      k = UOp::range(int64_t{96}, 2, AxisType::Reduce);
  UOp a = read(memory(1, 128 * 96, type), i * int64_t{96} + k).cast(dtypes::float32),
      b = read(memory(2, 64 * 96, type), k * apart + j * beside).cast(dtypes::float32);
  UOp sum = (a * b).reduce(Op::ADD, std::vector<UOp>{k});
  KernelInfo info;
  info.hasOptsToApply = true;
  info.optsToApply = {{OptOp::UPCAST, 1, {32}}, {OptOp::UPCAST, 0, {rows}}, {OptOp::SWAP, 0, {1}}};
  Target target = cpuTarget("LLVM");
  target.aluLanes = target.maxVectorLanes = 16;
  target.nativeOps = target.nativeOps | OpSet{Op::MULACC};
  UOp ast = kernel({memory(0, 128 * 64).indexed({i * int64_t{64} + j}).store(sum).end({i, j})}, info);
  return LlvmRenderer(target).render(lowerKernel(ast, target));
}

int occurrences(const std::string& text, const std::string& what) {
  int n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

} // namespace

TEST_CASE("a loop that adds up a tile of products is not written out by LLVM, other loops may be") {
  Pool pool;
  PoolScope scope(pool);
  const std::string large = textOf(8, dtypes::float32, 64, 1), small = textOf(2, dtypes::float32, 64, 1);
  CHECK(occurrences(large, "!llvm.loop ") >= 1);
  CHECK(occurrences(large, "!llvm.loop ") < occurrences(large, "loop_"));
  CHECK(occurrences(large, "!{!\"llvm.loop.unroll.disable\"}") == 1);
  CHECK(occurrences(small, "!llvm.loop ") == 0);
  CHECK(occurrences(small, "unroll.disable") == 0);
}

TEST_CASE("a loop that widens small floats may be written out") {
  Pool pool;
  PoolScope scope(pool);
  CHECK(occurrences(textOf(8, dtypes::bfloat16, 64, 1), "!llvm.loop ") == 0);
}

TEST_CASE("every second round of a transposed square ends in a fence, and its code stands once") {
  Pool pool;
  PoolScope scope(pool);
  const std::string text = textOf(8, dtypes::float32, 1, 96);
  CHECK(occurrences(text, "shufflevector <16 x float>") >= 64); // four rounds of sixteen
  CHECK(occurrences(text, "shufflevector <16 x float>") < 128);
  CHECK(occurrences(text, "call <16 x float> @llvm.arithmetic.fence.v16f32") == 32);
  CHECK(occurrences(textOf(8, dtypes::float32, 64, 1), "arithmetic.fence") == 0);
}
