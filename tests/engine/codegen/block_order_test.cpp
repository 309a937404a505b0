// The order of blocks: the bytes that each order reads, and products in bands that keep their values.
#include "engine/codegen/block_order.h"
#include "engine/render/gpu_text.h"
#include "tests/engine/codegen/kernels.h"
#include "tests/engine/codegen/oracle.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

struct Listener : Observer {
  void onDecision(const Decision& d) override { decisions.push_back(d); }
  std::vector<Decision> decisions;
};

/// A product of 64 by 64 with groups of 8 by 8 threads: 8 by 8 blocks.
UOp groupedProduct() {
  KernelInfo info;
  info.hasOptsToApply = true;
  info.optsToApply = {{OptOp::LOCAL, 0, {8}}, {OptOp::LOCAL, 1, {8}}};
  return matmul(64, 64, 16).withArg(Arg::of(info));
}

/// The extents of the numbers of a block, those of gidx0 first.
std::vector<int64_t> launched(const LoweredKernel& k) {
  std::vector<int64_t> sizes;
  for (const Sint& s : k.globalSize) sizes.push_back(s.i());
  return sizes;
}

} // namespace

TEST_CASE("bytes from memory: a run of groups reads its rows and its columns of blocks once") {
  const BlockGrid grid{.rows = 8, .columns = 8, .rowBytes = 100, .columnBytes = 10};
  CHECK(bytesRead(grid, 16, 1) == 4 * (2 * 100 + 8 * 10)); // 2 rows of 8
  CHECK(bytesRead(grid, 16, 4) == 4 * (4 * 100 + 4 * 10)); // 4 by 4
  CHECK(bytesRead(grid, 16, 2) == 4 * (2 * 100 + 8 * 10)); // a whole band is the same as two rows
  CHECK(bytesRead(grid, 64, 1) == 8 * 100 + 8 * 10);
  CHECK(bytesRead(grid, 24, 1) == 2 * (3 * 100 + 8 * 10) + (2 * 100 + 8 * 10)); // the last run is short
  CHECK(bytesRead({.rows = 1 << 12, .columns = 1 << 12, .rowBytes = 1, .columnBytes = 1}, 64, 8) ==
        (1 << 18) * (8 + 8));
}

TEST_CASE("blocks that run at once lie in a band, and each is computed once") {
  Pool pool;
  PoolScope scope(pool);
  Target target = makeGpuRenderer("CUDA")->target();
  target.processors = 2; // with 8 groups of 64 threads each
  target.cacheBytes = 4096;
  Listener listener;
  {
    ObserverScope observe(&listener);
    CHECK(launched(checkKernel(groupedProduct(), target)) == std::vector<int64_t>{4, 8, 2});
  }
  const auto said = std::find_if(listener.decisions.begin(), listener.decisions.end(),
                                 [](const Decision& d) { return d.unit == "MB from memory"; });
  REQUIRE(said != listener.decisions.end());
  CHECK(said->reason.find("16 blocks run at once: in bands of 4 rows") == 0);
  // A block reads 8 rows of 16 terms, and 8 columns: 512 bytes each. 16 blocks read 4 rows and 4 columns of them.
  CHECK(said->price.value() == doctest::Approx(4 * 8 * 512 / 1e6));
  REQUIRE(said->others.size() == 2);
  CHECK(said->others[0].what == "in rows");
  CHECK(said->others[0].price == doctest::Approx(4 * 10 * 512 / 1e6));
}

TEST_CASE("blocks stay in rows where no order reads less, or nothing is known of the cache") {
  Pool pool;
  PoolScope scope(pool);
  Target target = makeGpuRenderer("CUDA")->target();
  auto size = [&] { return launched(checkKernel(groupedProduct(), target)); };
  const std::vector<int64_t> inRows{8, 8, 1};
  CHECK(size() == inRows); // both operands fit the cache
  target.cacheBytes = 4096;
  CHECK(size() == inRows); // all blocks run at once
  target.processors = 0;
  CHECK(size() == inRows);
  target.processors = 2;
  CHECK(size() != inRows);
  target.cacheBytes = 0;
  CHECK(size() == inRows);
}
