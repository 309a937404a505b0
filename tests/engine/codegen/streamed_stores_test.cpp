// Stores past the caches: which results are streamed, which are not, and what the renderers write.
#include "engine/base/context_var.h"
#include "engine/codegen/streamed_stores.h"
#include "engine/render/c_renderer.h"
#include "engine/render/llvm_renderer.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

/// A processor whose last cache holds 16 kB.
Target smallCache(int lanes = 8) {
  Target t = plainTarget(lanes);
  t.maxVectorLanes = lanes;
  t.cacheBytes = 16 << 10;
  return t;
}
int streamedOf(const LoweredKernel& k) {
  return static_cast<int>(std::ranges::count_if(k.uops, isStreamed));
}
/// The streamed stores of a kernel, whose results the interpreter and the oracle agree on.
int streamed(UOp ast, const Target& target = smallCache()) {
  return streamedOf(checkKernel(ast, target, 3));
}
UOp plusOne(UOp x) {
  return x + UOp::constant(x.dtype(), 1.0);
}

} // namespace

TEST_CASE("a large result is stored past the last cache where the kernel touches more than it keeps") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 2}});
  CHECK(streamed(elementwise(2112, plusOne)) > 0);
  CHECK(streamed(elementwise(2048, plusOne)) == 0); // 8 kB read and 8 kB written: it fits
  CHECK(streamed(elementwise(1056, plusOne, dtypes::float64)) > 0);
  CHECK(streamed(elementwise(2112, plusOne), smallCache(4)) > 0);
  CHECK(streamed(rowSums(1024, 16)) == 0); // 64 kB read, but 4 kB written
  // Where the cache is not known, or vectors are too short for such stores.
  CHECK(streamed(elementwise(2112, plusOne), plainTarget(8)) == 0);
  CHECK(streamed(elementwise(8192, [](UOp x) { return x < UOp::constant(x.dtype(), 0.0); }), smallCache(4)) ==
        0);
}

TEST_CASE("every row of a large result is streamed where rows are long, and begins where vectors do") {
  Pool pool;
  PoolScope scope(pool);
  auto rowsPlus = [](int64_t rows, int64_t columns, int64_t apart) {
    UOp i = UOp::range(rows, 0), j = UOp::range(columns, 1);
    UOp sum = read(memory(1, rows), i) + read(memory(2, columns), j);
    return kernel({memory(0, rows * apart).indexed({i * apart + j}).store(sum).end({i, j})});
  };
  CHECK(streamed(rowsPlus(6, 1024, 1024)) > 0);
  CHECK(streamed(rowsPlus(6, 1024, 1032)) > 0);
  CHECK(streamed(rowsPlus(96, 64, 64)) > 0);     // rows that follow one another are one run
  CHECK(streamed(rowsPlus(96, 64, 72)) == 0);    // short rows
  CHECK(streamed(rowsPlus(6, 1024, 1025)) == 0); // the second row begins inside a vector
}

TEST_CASE("memory that the kernel reads as well is not streamed, nor is a column of it") {
  Pool pool;
  PoolScope scope(pool);
  UOp i = UOp::range(4096, 0), own = memory(0, 4096);
  CHECK(streamed(kernel({own.indexed({i}).store(plusOne(read(own, i))).end({i})})) == 0);
  UOp r = UOp::range(64, 0), c = UOp::range(64, 1);
  CHECK(streamed(kernel({memory(0, 8192)
                             .indexed({r * 128 + c * 2})
                             .store(plusOne(read(memory(1, 4096), r * 64 + c)))
                             .end({r, c})})) == 0);
}

TEST_CASE("a GPU stores as always") {
  Pool pool;
  PoolScope scope(pool);
  Target gpu = smallCache();
  gpu.hasLocal = true;
  gpu.globalMax = {1 << 20, 65535, 65535};
  CHECK(streamedOf(lowerKernel(elementwise(1 << 14, plusOne), gpu)) == 0);
}

TEST_CASE("renderers ask for the alignment of each streamed store, and end the kernel with a fence") {
  Pool pool;
  PoolScope scope(pool);
  const LoweredKernel large = lowerKernel(elementwise(4096, plusOne), smallCache()),
                      small = lowerKernel(elementwise(64, plusOne), smallCache());
  auto has = [](const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  };
  const std::string ir = LlvmRenderer(smallCache()).render(large), c = CRenderer(smallCache()).render(large);
  CHECK(has(ir, "align 32, !nontemporal !{i32 1}"));
  CHECK(has(ir, "and i64 %address0, 31"));
  CHECK(has(ir, "fence seq_cst\n  ret void"));
  CHECK(has(c, "__builtin_nontemporal_store"));
  CHECK(has(c, "STREAM(float8, data0_4096 + "));
  CHECK(has(c, "__atomic_thread_fence(__ATOMIC_SEQ_CST);\n}"));
  for (const std::string& text :
       {LlvmRenderer(smallCache()).render(small), CRenderer(smallCache()).render(small)})
    for (const char* part : {"nontemporal", "fence"}) CHECK_FALSE(has(text, part));
}
