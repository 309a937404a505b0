// Loops that quotients, remainders and comparisons cut before the kernel is optimised, and that the values stay.
#include "engine/base/context_var.h"
#include "engine/codegen/ranges.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/algebra.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

/// out[o, c] = sum over t of g[o, t] * x[o / each * channels + c, t]: the gradient of filters in groups of `each`.
UOp groupedProduct(int64_t filters, int64_t each, int64_t channels, int64_t terms) {
  UOp o = UOp::range(filters, 0), c = UOp::range(channels, 1), t = UOp::range(terms, 2, AxisType::Reduce);
  UOp g = read(memory(1, filters * terms), o * terms + t);
  UOp x =
      read(memory(2, (filters + each - 1) / each * channels * terms), (o / each * channels + c) * terms + t);
  UOp sum = (g * x).reduce(Op::ADD, std::vector<UOp>{t});
  return kernel({memory(0, filters * channels).indexed({o * channels + c}).store(sum).end({o, c})});
}
/// The extents of the loops over results after the pass, outer ones first.
std::vector<int64_t> loopsAfterSplit(UOp sink) {
  static const PatternMatcher rules({splitRangeRules(), flattenRangeRules()});
  SplitRangesContext splits;
  sink = graphRewrite(sink, rules, {.name = "split ranges", .ctx = splits});
  std::vector<int64_t> extents;
  UOp end = onlyEnd(sink);
  REQUIRE(end);
  for (UOp r : end.src().subspan(1)) extents.push_back(extentOf(r));
  return extents;
}

} // namespace

TEST_CASE("a loop whose quotient picks a factor of a product is cut there") {
  Pool pool;
  PoolScope scope(pool);
  CHECK(loopsAfterSplit(groupedProduct(32, 8, 4, 5)) == std::vector<int64_t>{4, 8, 4});
  CHECK(loopsAfterSplit(groupedProduct(32, 2, 4, 5)) == std::vector<int64_t>{16, 2, 4});
  CHECK(loopsAfterSplit(groupedProduct(9, 2, 4, 5)) == std::vector<int64_t>{9, 4}); // the last group is short
  CHECK(loopsAfterSplit(groupedProduct(8, 8, 4, 5)) == std::vector<int64_t>{8, 4}); // one group
}

TEST_CASE("products in groups have the same values whatever is cut") {
  Pool pool;
  PoolScope scope(pool);
  for (int64_t lanes : {1, 4, 8, 16})
    for (auto [filters, each] : {std::pair{32, 8}, {24, 4}, {12, 6}, {32, 16}, {10, 5}, {64, 32}}) {
      CAPTURE(lanes);
      CAPTURE(filters);
      CAPTURE(each);
      checkKernel(groupedProduct(filters, each, 7, 33), plainTarget(static_cast<int>(lanes)), 3, {}, 1e-4);
    }
}

TEST_CASE("pieces of a long outermost loop have a loop of threads around them") {
  Pool pool;
  PoolScope scope(pool);
  Target target = plainTarget(8);
  target.hasThreads = true, target.globalMax = {2, 1, 1};
  auto joined = [](int64_t first, int64_t second) { // two memories, one after the other
    const int64_t all = first + second;
    UOp i = UOp::range(all, 0), in = i < first;
    UOp value = in.where(read(memory(1, first), in.where(i, UOp::invalid())),
                         read(memory(2, second), in.where(UOp::invalid(), i - first)));
    return kernel({memory(0, all).indexed({i}).store(value).end({i})});
  };
  auto threadsOf = [&](UOp sink) {
    const LoweredKernel k = lowerKernel(sink, target);
    return std::ranges::count(k.appliedOpts, OptOp::THREAD, &Opt::op);
  };
  CHECK(threadsOf(joined(300'000, 200'000)) == 1);
  CHECK(threadsOf(joined(300'001, 200'003)) == 1); // the last thread repeats a few places
  CHECK(threadsOf(joined(300'000, 100)) == 0);     // a short piece
  CHECK(threadsOf(joined(3'000, 2'000)) == 0);     // little work
  {                                                // of many processors as many as are worth it
    ContextScope many({{"CPU_COUNT", 64}});
    target.globalMax = {64, 1, 1};
    CHECK(threadsOf(joined(300'001, 200'003)) == 1);
    for (const Opt& o : lowerKernel(joined(300'001, 200'003), target).appliedOpts)
      if (o.op == OptOp::THREAD) CHECK(o.arg == std::vector<int64_t>{3});
    checkKernel(joined(200'001, 300'001), target, 3);
    target.globalMax = {2, 1, 1};
  }
  auto changed = [](int64_t all, int64_t cut) { // one memory, in its place
    UOp i = UOp::range(all, 0), old = read(memory(0, all), i);
    return kernel({memory(0, all).indexed({i}).store((i < cut).where(old * 2.0, old + 1.0)).end({i})});
  };
  CHECK(threadsOf(changed(500'001, 200'000)) == 0); // no place may be changed twice
  for (auto [all, cut] : {std::pair{300'000, 120'000}, {300'001, 120'001}})
    checkKernel(changed(all, cut), target, 3);
  for (auto [first, second] : {std::pair{200'001, 70'003}, {131'072, 140'000}})
    checkKernel(joined(first, second), target, 3);
}

TEST_CASE("parts begin inside of what they part, however many steps there are") {
  Pool pool;
  PoolScope scope(pool);
  for (auto [steps, part, length] :
       {std::array<int64_t, 3>{4, 16, 64}, {5, 16, 70}, {4, 2, 6}, {100, 65, 6435}}) {
    const UOp step = UOp::range(steps, 0), start = startOfPart(step, part, length);
    std::vector<bool> taken(static_cast<size_t>(length));
    for (int64_t k = 0; k < steps; ++k) {
      const UOp at = simplify(start.substitute({{step, UOp::index(k)}}));
      REQUIRE(at.isConst());
      REQUIRE(at.arg().i() + part <= length);
      for (int64_t i = 0; i < part; ++i) taken[static_cast<size_t>(at.arg().i() + i)] = true;
    }
    CHECK(std::ranges::count(taken, false) == 0);
  }
}
