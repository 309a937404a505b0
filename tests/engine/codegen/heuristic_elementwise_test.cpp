// Opts of kernels without a sum: which loop is inside where a copy turns rows into columns.
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

/// out[i][j] = the sum of `turned` matrices read as [j][i] and of `plain` ones read as [i][j]
LoweredKernel turning(int turned, int plain) {
  constexpr int64_t kRows = 32, kColumns = 48;
  UOp i = UOp::range(kRows, 0), j = UOp::range(kColumns, 1), sum;
  for (int k = 0; k < turned + plain; ++k) {
    UOp value = read(memory(1 + k, kRows * kColumns), k < turned ? j * kRows + i : i * kColumns + j);
    sum = sum ? sum + value : value;
  }
  UOp sink = kernel({memory(0, kRows * kColumns).indexed({i * kColumns + j}).store(sum).end({i, j})});
  return checkKernel(sink, plainTarget(8));
}
bool isSwapped(const LoweredKernel& k) {
  return std::ranges::count(k.appliedOpts, OptOp::SWAP, &Opt::op) == 1;
}

} // namespace

TEST_CASE("a copy that turns rows into columns streams along its result, or along several operands") {
  Pool pool;
  PoolScope scope(pool);
  for (int plain : {0, 1, 2}) {
    CAPTURE(plain);
    const LoweredKernel one = turning(1, plain), two = turning(2, plain);
    CHECK(std::ranges::count(one.appliedOpts, OptOp::UPCAST, &Opt::op) == 2);
    CHECK_FALSE(isSwapped(one));
    CHECK(std::ranges::count(two.appliedOpts, OptOp::UPCAST, &Opt::op) == 2);
    CHECK(isSwapped(two));
  }
}
