// Kernels that store several results of the same values, and squares that are turned round: loops, conditions and lanes
// are shared.
#include "engine/base/context_var.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

int countOf(const LoweredKernel& k, Op op, int lanes) {
  int found = 0;
  for (UOp u : k.uops) found += u.is(op) && (lanes == 0 || u.dtype().count() == lanes);
  return found;
}

/// out[r,i] = the smaller of x[0,i] and x[1,i] for r = 0, the larger for r = 1; a NaN is larger than any number.
UOp exchange(int64_t n) {
  UOp r = UOp::range(2, 0), i = UOp::range(n, 1);
  UOp a = read(memory(1, 2 * n), i), b = read(memory(1, 2 * n), i + n);
  UOp swapped = (b < a) | a.alu(Op::CMPNE, {a});
  UOp value = (r < 1).where(swapped.where(b, a), swapped.where(a, b));
  return kernel({memory(0, 2 * n).indexed({r * n + i}).store(value).end({r, i})});
}

} // namespace

TEST_CASE("both results of an exchange are stored by one loop, and its condition is decided in lanes") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  LoweredKernel k = checkKernel(exchange(32), plainTarget(4), 5);
  CHECK(countOf(k, Op::RANGE, 0) == 1);
  CHECK(countOf(k, Op::LOAD, 4) == 2);
  CHECK(countOf(k, Op::OR, 4) == 1);
  CHECK(countOf(k, Op::STORE, 0) == 2);
}

TEST_CASE("each of many values of 8 bytes has one register, on 16 registers and on 32") {
  Pool pool;
  PoolScope scope(pool);
  for (auto [reads, lanes, width] : {std::tuple{16, 8, 4}, {8, 8, 8}, {16, 16, 16}, {20, 16, 8}}) {
    CAPTURE(reads);
    CAPTURE(lanes);
    UOp i = UOp::range(64, 0), least = read(memory(1, 64, dtypes::int64), i);
    for (int64_t k = 2; k <= reads; ++k) {
      UOp next = read(memory(k, 64, dtypes::int64), i);
      least = (next < least).where(next, least);
    }
    UOp ast = kernel({memory(0, 64, dtypes::int64).indexed({i}).store(least).end({i})});
    LoweredKernel k = checkKernel(ast, plainTarget(lanes), 5);
    CHECK(countOf(k, Op::CMPLT, width) == reads - 1);
  }
}

TEST_CASE("pieces of different lengths keep loops of their own") {
  Pool pool;
  PoolScope scope(pool);
  UOp i = UOp::range(40, 0), x = read(memory(1, 40), i);
  UOp value = (i < 8).where(x * 2.0 + 1.0, x * x);
  LoweredKernel k =
      checkKernel(kernel({memory(0, 40).indexed({i}).store(value).end({i})}), plainTarget(4), 5);
  CHECK(countOf(k, Op::RANGE, 0) == 2);
}

TEST_CASE("a square is turned round by halves") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{16, 16}, {8, 24}, {4, 12}}) {
    UOp r = UOp::range(rows, 0), c = UOp::range(columns, 1);
    UOp value = read(memory(1, rows * columns), c * rows + r);
    LoweredKernel k =
        checkKernel(kernel({memory(0, rows * columns).indexed({r * columns + c}).store(value).end({r, c})}),
                    plainTarget(4), 5);
    for (UOp u : k.uops) {
      if (!u.is(Op::VECTORIZE) || u.srcCount() < 4) continue;
      UOpMap<bool> from; // of two vectors at a time
      for (UOp s : u.src()) from[s.src(0)] = true;
      CHECK(from.size() == 2);
    }
  }
}

TEST_CASE("numbers that count lanes are a vector of their first one plus constants") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  UOp i = UOp::range(32, 0);
  UOp value = read(memory(1, 32, dtypes::int32), i) * (i.cast(dtypes::int32) * 3 + 5);
  LoweredKernel k = checkKernel(kernel({memory(0, 32, dtypes::int32).indexed({i}).store(value).end({i})}),
                                plainTarget(4), 5);
  for (UOp u : k.uops) // no list of sums, one for each lane
    if (u.is(Op::VECTORIZE)) CHECK(!u.src(1).is(Op::ADD));
  CHECK(countOf(k, Op::ADD, 4) > 0);
}

TEST_CASE("a condition on more lanes than a register has stays in lanes, negated or not") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 1}});
  UOp i = UOp::range(32, 0), a = read(memory(1, 32), i), b = read(memory(2, 32), i);
  UOp equal = a.alu(Op::CMPNE, {b}).alu(Op::CMPNE, {UOp::constant(dtypes::bool_, int64_t{1})});
  UOp value = (equal | b.alu(Op::CMPNE, {b})).where(a * 2.0, b);
  KernelInfo info;
  info.hasOptsToApply = true;
  info.optsToApply = {{OptOp::UPCAST, 0, {8}}};
  LoweredKernel k =
      checkKernel(kernel({memory(0, 32).indexed({i}).store(value).end({i})}, info), plainTarget(4), 5);
  CHECK(countOf(k, Op::OR, 4) == 2);
  CHECK(countOf(k, Op::OR, 1) == 0);
}

TEST_CASE("a condition whose parts are shared many times is walked once") {
  Pool pool;
  PoolScope scope(pool);
  UOp i = UOp::range(32, 0), a = read(memory(1, 32), i), b = read(memory(2, 32), i);
  UOp condition = a < b;
  for (int depth = 0; depth < 60; ++depth)
    condition = (condition & (a < 0.01 * depth)) | condition.alu(Op::XOR, {b < 0.02 * depth});
  UOp store = memory(0, 32).indexed({i}).store(condition.where(a, b));
  LoweredKernel k = lowerKernel(kernel({store.end({i})}), plainTarget(4));
  CHECK(countOf(k, Op::XOR, 1) == 0);
}
