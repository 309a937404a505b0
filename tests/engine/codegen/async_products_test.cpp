// Products of cores that read shared memory themselves (wgmma): every way that operands lie, types, widths and steps keep the
// values; kernels that are broken on purpose are found.
#include "engine/codegen/async_copy.h"
#include "engine/codegen/async_products.h"
#include "engine/codegen/shared_operand.h"
#include "engine/render/gpu_text.h"
#include "tests/engine/codegen/kernels.h"
#include "tests/engine/codegen/oracle.h"

#include <doctest/doctest.h>

#include <functional>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

/// a is n by k and b k by m; a transposed operand has the opposite order in memory.
UOp product(int64_t n, int64_t m, int64_t k, bool aTransposed, bool bTransposed,
            DType type = dtypes::float16) {
  UOp i = UOp::range(n, 0), j = UOp::range(m, 1), t = UOp::range(k, 2, AxisType::Reduce);
  UOp a = read(memory(1, n * k, type), aTransposed ? t * n + i : i * k + t);
  UOp b = read(memory(2, k * m, type), bTransposed ? j * k + t : t * m + j);
  return kernel({memory(0, n * m)
                     .indexed({i * m + j})
                     .store((a * b).cast(dtypes::float32).reduce(Op::ADD, std::vector<UOp>{t}))
                     .end({i, j})});
}
UOp withOpts(UOp ast, std::vector<Opt> opts) {
  KernelInfo info;
  info.hasOptsToApply = true;
  info.optsToApply = std::move(opts);
  return ast.withArg(Arg::of(info));
}
const Target& hopper() {
  static const Target target = cudaLanguage("sm_90a").target();
  return target;
}
/// The number of the core of this width for a type.
int64_t coreOf(int64_t columns, DType type) {
  const auto& cores = hopper().tensorCores;
  for (size_t i = 0; i < cores.size(); ++i)
    if (readsShared(cores[i]) && columnsOf(cores[i]) == columns && cores[i].in == type)
      return static_cast<int64_t>(i);
  FAIL("no such core");
  return -1;
}
std::vector<Opt> optsFor(int64_t core, std::vector<Opt> more) {
  std::vector<Opt> opts{{OptOp::TC, 0, {core, 0, 1}}, {OptOp::UNROLL, 0, {4}}};
  opts.insert(opts.end(), more.begin(), more.end());
  return opts;
}
int64_t count(const LoweredKernel& k, const std::function<bool(UOp)>& f) {
  return std::count_if(k.uops.begin(), k.uops.end(), f);
}

} // namespace

TEST_CASE("a core reads operands from shared memory, whatever way they lie") {
  Pool pool;
  PoolScope scope(pool);
  for (bool a : {false, true})
    for (bool b : {false, true}) {
      CAPTURE(a);
      CAPTURE(b);
      LoweredKernel k = checkKernel(withOpts(product(128, 64, 256, a, b),
                                             optsFor(coreOf(64, dtypes::float16), {{OptOp::LOCAL, 0, {2}}})),
                                    hopper(), 3);
      CHECK(count(k, [](UOp u) { return u.is(Op::WMMA); }) == 4);
      CHECK(count(k, beginsProducts) == 1);
      CHECK(count(k, [](UOp u) { return productsLeft(u).has_value(); }) == 2);
      CHECK(count(k, showsToUnits) == 1);
    }
}
