// Running sums give the same values, in one step per term.
#include "engine/base/context_var.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

/// out[r,i] combines x[r,0] to x[r,i], or to x[r,i-1] with an empty first result. Results along i lie `step`
/// apart, results along r `rowStep`.
UOp running(Op op, int64_t rows, int64_t n, int64_t rowStep, int64_t step, bool exclusive = false,
            DType d = dtypes::int32) {
  UOp r = UOp::range(rows, 0), i = UOp::range(n, 1), k = UOp::range(n, 2, AxisType::Reduce);
  int64_t before = n - (exclusive ? 0 : 1), size = (rows - 1) * rowStep + (n - 1) * step + 1;
  UOp inside = (i + k < before).logicalNot();
  UOp place = (r * rowStep + (i + k - before) * step).validWhere(inside);
  UOp term = inside.where(read(memory(1, size, d), place), identityElement(op, d));
  UOp result = term.reduce(op, std::vector<UOp>{k}) + 1;
  return kernel({memory(0, size, d).indexed({r * rowStep + i * step}).store(result).end({r, i})});
}
/// out[r,i] combines x[r,k] of a triangle: k <= i, or, with `fromEnd`, k >= i, from the last to it.
UOp triangle(Op op, int64_t rows, int64_t n, bool columns, bool fromEnd, DType d = dtypes::int32) {
  UOp r = UOp::range(rows, 0), i = UOp::range(n, 1), k = UOp::range(n, 2, AxisType::Reduce);
  int64_t rowStep = columns ? 1 : n, step = columns ? rows : 1;
  UOp inside = fromEnd ? i + k < n : k < i + 1;
  UOp value = read(memory(1, rows * n, d), r * rowStep + (fromEnd ? UOp::index(n - 1) - k : k) * step);
  UOp result = inside.where(value, identityElement(op, d)).reduce(op, std::vector<UOp>{k}) + 1;
  return kernel({memory(0, rows * n, d).indexed({r * rowStep + i * step}).store(result).end({r, i})});
}

} // namespace

TEST_CASE("a running sum takes one step a result, along rows and along columns") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  for (Op op : {Op::ADD, Op::MAX, Op::MUL})
    for (auto [rows, n] : {std::pair<int64_t, int64_t>{32, 20}, {7, 18}, {1, 17}, {16, 48}, {24, 64}})
      for (bool exclusive : {false, true})
        for (bool columns : {false, true}) {
          CAPTURE(opName(op));
          CAPTURE(rows);
          CAPTURE(columns);
          UOp sink = running(op, rows, n, columns ? 1 : n, columns ? rows : 1, exclusive);
          LoweredKernel k = checkKernel(sink, plainTarget(8), 5);
          CHECK(stepsOf(k) <= rows * n);
        }
}

TEST_CASE("a sum over a triangle takes one step a result, from the first to the last and back") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  for (Op op : {Op::ADD, Op::MAX, Op::MUL})
    for (auto [rows, n] : {std::pair<int64_t, int64_t>{32, 20}, {7, 18}, {1, 17}, {16, 64}})
      for (bool fromEnd : {false, true})
        for (bool columns : {false, true}) {
          CAPTURE(opName(op));
          CAPTURE(rows);
          CAPTURE(columns);
          CAPTURE(fromEnd);
          LoweredKernel k = checkKernel(triangle(op, rows, n, columns, fromEnd), plainTarget(8), 5);
          CHECK(stepsOf(k) <= rows * n);
        }
}

TEST_CASE("rows that are lanes are turned round by blocks of steps") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  auto memories = [](const LoweredKernel& k) {
    int found = 0;
    for (UOp u : k.uops) found += u.is(Op::DEFINE_REG);
    return found;
  };
  CHECK(memories(checkKernel(running(Op::ADD, 16, 64, 64, 1), plainTarget(8), 5)) ==
        3); // sums, terms, results
  CHECK(memories(checkKernel(running(Op::ADD, 16, 50, 50, 1), plainTarget(8), 5)) == 1); // no whole squares
  CHECK(memories(checkKernel(running(Op::ADD, 12, 64, 64, 1), plainTarget(8), 5)) == 1);
}

TEST_CASE("sums that are no running sums stay") {
  Pool pool;
  PoolScope scope(pool);
  // A window of 5: terms leave it again.
  UOp i = UOp::range(40, 0), k = UOp::range(40, 1, AxisType::Reduce);
  UOp term = (k < 5).where(read(memory(1, 80), i + k), UOp::constant(dtypes::float32, 0.0));
  UOp window = kernel({memory(0, 40).indexed({i}).store(term.reduce(Op::ADD, std::vector<UOp>{k})).end({i})});
  checkKernel(window, plainTarget(8), 5, {}, 1e-5);
  // The sum that grows from the first result has its new term first: another order, another rounding.
  UOp tail = (k < i).where(UOp::constant(dtypes::float32, 0.0), read(memory(1, 40), k));
  LoweredKernel kept = checkKernel(
      kernel({memory(0, 40).indexed({i}).store(tail.reduce(Op::ADD, std::vector<UOp>{k})).end({i})}),
      plainTarget(8), 5, {}, 1e-5);
  CHECK(stepsOf(kept) < 40); // results stay lanes
  // Every term differs from result to result.
  UOp inside = (i + k < 39).logicalNot();
  UOp scaled = inside.where(read(memory(1, 40), (i + k - 39).validWhere(inside)) * i.cast(dtypes::float32),
                            UOp::constant(dtypes::float32, 0.0));
  checkKernel(
      kernel({memory(0, 40).indexed({i}).store(scaled.reduce(Op::ADD, std::vector<UOp>{k})).end({i})}),
      plainTarget(8), 5, {}, 1e-4);
}
