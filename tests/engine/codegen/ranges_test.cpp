// Loops that a quotient or a remainder cuts in two before the kernel is optimised, and that the values stay.
#include "engine/codegen/ranges.h"
#include "engine/rewrite/driver.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

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
