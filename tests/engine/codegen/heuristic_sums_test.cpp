// Opts of sums inside sums: the lanes of a row stay whole vectors.
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace uopscope;
using namespace uopscope::testing;

TEST_CASE("what is left of a row beside its lanes is a loop: written out, it would take the vectors apart") {
  Pool pool;
  PoolScope scope(pool);
  for (int64_t terms : {32, 64, 96, 128, 256}) {
    CAPTURE(terms);
    constexpr int64_t kRows = 20;
    UOp r = UOp::range(kRows, 0, AxisType::Reduce), j = UOp::range(terms, 1, AxisType::Reduce);
    UOp x = read(memory(1, kRows * terms), r * terms + j), row = (x * x).reduce(Op::ADD, std::vector<UOp>{j});
    UOp sum = (row * row).reduce(Op::ADD, std::vector<UOp>{r});
    UOp sink = kernel({memory(0, 1).indexed({UOp::index(0)}).store(sum)});
    const LoweredKernel k = checkKernel(sink, plainTarget(8));
    CHECK(std::ranges::count(k.appliedOpts, OptOp::UNROLL, &Opt::op) == 1);
  }
}
