// Opts of kernels without a sum: which loop is inside where a copy turns rows into columns, and lanes that read the same element.
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

TEST_CASE("neighbours that read the same element are lanes, and a short row is a vector as a whole") {
  Pool pool;
  PoolScope scope(pool);
  struct Case {
    int64_t columns, times, lanes; // lanes: of eight at most; 0: none
  };
  for (const Case& c : {Case{48, 2, 8}, Case{12, 4, 4}, Case{6, 2, 6}, Case{64, 8, 8}, Case{9, 3, 0}}) {
    CAPTURE(c.columns);
    CAPTURE(c.times);
    const int64_t rows = 10;
    UOp i = UOp::range(rows, 0), j = UOp::range(c.columns, 1);
    UOp value =
        read(memory(1, rows * c.columns), i * c.columns + j) +
        read(memory(2, rows / 2 * c.columns / c.times), (i / 2) * (c.columns / c.times) + j / c.times);
    UOp sink = kernel({memory(0, rows * c.columns).indexed({i * c.columns + j}).store(value).end({i, j})});
    const LoweredKernel k = checkKernel(sink, plainTarget(8));
    const auto lanes = std::ranges::find(k.appliedOpts, OptOp::UPCAST, &Opt::op);
    CHECK((lanes == k.appliedOpts.end() ? 0 : lanes->arg[0]) == c.lanes);
  }
}
