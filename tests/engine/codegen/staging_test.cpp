// Operands in shared memory: products keep their values, for operands of any layout. Nothing is staged where
// threads share too little.
#include "engine/codegen/staging.h"
#include "engine/render/gpu_text.h"
#include "tests/engine/codegen/kernels.h"
#include "tests/engine/codegen/oracle.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

/// a is n by k and b k by m; a transposed operand has the opposite order in memory.
UOp product(int64_t n, int64_t m, int64_t k, bool aTransposed, bool bTransposed) {
  UOp i = UOp::range(n, 0), j = UOp::range(m, 1), t = UOp::range(k, 2, AxisType::Reduce);
  UOp a = read(memory(1, n * k), aTransposed ? t * n + i : i * k + t);
  UOp b = read(memory(2, k * m), bTransposed ? j * k + t : t * m + j);
  return kernel({memory(0, n * m)
                     .indexed({i * m + j})
                     .store((a * b).reduce(Op::ADD, std::vector<UOp>{t}))
                     .end({i, j})});
}
UOp withOpts(UOp ast, std::vector<Opt> opts) {
  KernelInfo info;
  info.hasOptsToApply = true;
  info.optsToApply = std::move(opts);
  return ast.withArg(Arg::of(info));
}
int64_t sharedOf(const LoweredKernel& k) {
  int64_t elements = 0;
  for (UOp u : k.uops)
    if (u.is(Op::DEFINE_LOCAL)) elements += u.dtype().size();
  return elements;
}
int64_t barriersOf(const LoweredKernel& k) {
  return std::count_if(k.uops.begin(), k.uops.end(), [](UOp u) { return u.is(Op::BARRIER); });
}

const std::vector<Opt> kTile{{OptOp::UNROLL, 0, {8}},
                             {OptOp::UPCAST, 1, {4}},
                             {OptOp::LOCAL, 0, {8}},
                             {OptOp::LOCAL, 1, {8}},
                             {OptOp::UPCAST, 0, {2}}};

} // namespace

TEST_CASE("operands that a group shares are read from shared memory, whatever way they lie") {
  Pool pool;
  PoolScope scope(pool);
  Target target = makeGpuRenderer("CUDA")->target();
  for (bool a : {false, true})
    for (bool b : {false, true}) {
      CAPTURE(a);
      CAPTURE(b);
      LoweredKernel k = checkKernel(withOpts(product(16, 32, 24, a, b), kTile), target, 3, {}, 1e-5);
      // Two halves with 8 terms of 16 rows and of 32 columns; each row of terms is 4 elements longer.
      CHECK(sharedOf(k) == 2 * 8 * (16 + 4) + 2 * 8 * (32 + 4));
      CHECK(barriersOf(k) == 1);
    }
}

TEST_CASE("nothing is staged that few threads read, that is gated, or that does not fit") {
  Pool pool;
  PoolScope scope(pool);
  Target target = makeGpuRenderer("CUDA")->target();
  auto staged = [&](UOp ast, std::vector<Opt> opts) {
    return sharedOf(checkKernel(withOpts(ast, std::move(opts)), target, 5, {}, 1e-5)) > 0;
  };
  UOp plain = product(16, 32, 24, false, false);
  CHECK(staged(plain, kTile));
  CHECK_FALSE(staged(
      plain,
      {{OptOp::UNROLL, 0, {8}}, {OptOp::UPCAST, 1, {4}}, {OptOp::LOCAL, 0, {4}}, {OptOp::LOCAL, 1, {4}}}));
  CHECK_FALSE(staged(
      plain, {{OptOp::UPCAST, 1, {4}}, {OptOp::LOCAL, 0, {8}}, {OptOp::LOCAL, 1, {8}}})); // no terms at once
  CHECK_FALSE(staged(product(16, 32, 8, false, false), kTile));                           // a single step
  CHECK_FALSE(staged(product(20, 32, 24, false, false), {{OptOp::PADTO, 0, {32}},
                                                         {OptOp::UNROLL, 0, {8}},
                                                         {OptOp::UPCAST, 1, {4}},
                                                         {OptOp::LOCAL, 0, {8}},
                                                         {OptOp::LOCAL, 1, {8}}}));
  target.sharedMax = 2048;
  CHECK_FALSE(staged(plain, kTile));
}
