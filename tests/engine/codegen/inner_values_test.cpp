// Values that a kernel stores for itself give what computing them where they are read gives, under any Opts.
#include "engine/base/context_var.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

/// out[i, j] = sum over k of (sum over l of a[i, l] * b[l, k]) * c[k, j], the inner sums stored for each i
UOp twoProducts(std::vector<Opt> opts) {
  UOp i = UOp::range(8, 0), j = UOp::range(8, 1), t = UOp::range(8, 4);
  UOp k = UOp::range(8, 2, AxisType::Reduce), l = UOp::range(8, 3, AxisType::Reduce);
  DType d = dtypes::float32;
  UOp term = read(memory(1, 64, d), i * 8 + l) * read(memory(2, 64, d), l * 8 + t);
  UOp row = term.reduce(Op::ADD, std::vector<UOp>{l});
  BufferizeOpts own{"", AddrSpace::Reg, false};
  UOp stored = UOp::make(Op::BUFFERIZE, d, {row, t}, Arg::of(own)).indexed({k});
  UOp sum = (stored * read(memory(3, 64, d), k * 8 + j)).reduce(Op::ADD, std::vector<UOp>{k});
  KernelInfo info;
  info.hasOptsToApply = true;
  info.optsToApply = std::move(opts);
  return kernel({memory(0, 64, d).indexed({i * 8 + j}).store(sum).end({i, j})}, info);
}

} // namespace

TEST_CASE("a product of a product in one kernel, every loop with Opts") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  const std::vector<Opt> some = {{OptOp::UPCAST, 0, {4}},
                                 {OptOp::UPCAST, 1, {4}},
                                 {OptOp::UPCAST, 2, {4}},
                                 {OptOp::UNROLL, 0, {4}},
                                 {OptOp::UNROLL, 1, {2}}};
  for (unsigned mask = 0; mask < 32; ++mask) {
    CAPTURE(mask);
    std::vector<Opt> opts;
    for (size_t n = 0; n < some.size(); ++n)
      if (mask >> n & 1) opts.push_back(some[n]);
    checkKernel(twoProducts(opts), plainTarget(8), mask + 1);
  }
}
