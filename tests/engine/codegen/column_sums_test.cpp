// Sums along columns read whole rows into accumulators: the same values, by a loop over the rows.
#include "engine/base/context_var.h"
#include "engine/codegen/column_sums.h"
#include "engine/codegen/loop_tree.h"
#include "engine/codegen/memory.h"
#include "engine/rewrite/driver.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

UOp byRows(UOp ast, const Target& target) {
  const PatternMatcher rules({columnSumRules()});
  TargetContext context{target};
  return graphRewrite(ast, rules, {.name = "column sums", .ctx = context});
}

/// out[c] = how over k of x[k * stride + c * step]
UOp columnSum(int64_t rows, int64_t columns, Op how = Op::ADD, int64_t stride = 0, int64_t step = 1) {
  const UOp c = UOp::range(columns, 0), k = UOp::range(rows, 1, AxisType::Reduce);
  if (stride == 0) stride = columns * step;
  const UOp x = read(memory(1, rows * stride, dtypes::int32), k * stride + c * step);
  const UOp sum = x.reduce(how, std::vector<UOp>{k});
  return kernel({memory(0, columns, dtypes::int32).indexed({c}).store(sum).end({c})});
}

} // namespace

TEST_CASE("columns of large memory are summed by rows, with the same values") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  for (auto [rows, columns, how] :
       {std::tuple{256, 1024, Op::ADD}, {131, 2053, Op::ADD}, {67, 5000, Op::MAX}, {64, 9001, Op::ADD}}) {
    CAPTURE(rows);
    CAPTURE(columns);
    const UOp ast = columnSum(rows, columns, how);
    Target target = plainTarget(8);
    for (bool threads : {false, true}) {
      target.hasThreads = threads;
      target.globalMax[0] = 2;
      const UOp made = byRows(ast, target);
      CHECK(made != ast);
      CHECK(made.below().has(Op::DEFINE_REG));
      CHECK_FALSE(made.below().has(Op::REDUCE));
      checkKernel(ast, target, 5);
    }
  }
}

TEST_CASE("sums over several loops of rows, in rows of their own, with what is done to a sum") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  constexpr int64_t kOuter = 2, kPlanes = 12, kRows = 14, kColumns = 1024;
  const UOp b = UOp::range(kOuter, 0), c = UOp::range(kColumns, 1),
            p = UOp::range(kPlanes, 2, AxisType::Reduce), r = UOp::range(kRows, 3, AxisType::Reduce);
  const UOp x = read(memory(1, kOuter * kPlanes * kRows * kColumns, dtypes::int32),
                     ((b * kPlanes + p) * kRows + r) * kColumns + c),
            weight = read(memory(2, kPlanes * kRows, dtypes::int32), p * kRows + r),
            bias = read(memory(3, kColumns, dtypes::int32), c);
  const UOp sum = (x * weight).reduce(Op::ADD, std::vector<UOp>{p, r});
  const UOp ast = kernel({memory(0, kOuter * kColumns, dtypes::int32)
                              .indexed({b * kColumns + c})
                              .store(sum * 3 + bias)
                              .end({b, c})});
  CHECK(byRows(ast, plainTarget(8)) != ast);
  checkKernel(ast, plainTarget(8), 5);
}

TEST_CASE("rows are cut for no more threads than get long pieces") {
  Pool pool;
  PoolScope scope(pool);
  Target target = plainTarget(8);
  target.hasThreads = true;
  for (auto [columns, threads, cut] :
       {std::tuple{1024, 2, true}, {1024, 3, false}, {4096, 8, true}, {4096, 9, false}, {65536, 64, true}}) {
    CAPTURE(columns);
    CAPTURE(threads);
    target.globalMax[0] = threads;
    const UOp ast = columnSum(512, columns);
    CHECK((byRows(ast, target) != ast) == cut);
  }
}

TEST_CASE("what is no sum of rows, or gains nothing, stays as it is") {
  Pool pool;
  PoolScope scope(pool);
  const UOp row = UOp::range(64, 0), c = UOp::range(2048, 1), k = UOp::range(512, 2, AxisType::Reduce);
  auto product = [&](UOp left, UOp right, Op how) {
    const UOp sum = (left * right).reduce(how, std::vector<UOp>{k});
    return kernel({memory(0, 64 * 2048).indexed({row * 2048 + c}).store(sum).end({row, c})});
  };
  const UOp shared = read(memory(2, 512 * 2048), k * 2048 + c),
            single = read(memory(1, 64 * 512), row * 512 + k);
  for (UOp ast : {columnSum(32, 65536),                // few terms
                  columnSum(4096, 512),                // short rows
                  columnSum(64, 2048),                 // a near cache holds all
                  columnSum(512, 2048, Op::ADD, 0, 2), // columns lie apart
                  columnSum(512, 2048, Op::MUL),       // products have accumulators of their own
                  product(single, shared, Op::ADD)}) { // each row of memory is needed 64 times
    CAPTURE(kernelName(ast));
    CHECK(byRows(ast, plainTarget(8)) == ast);
  }
}
