// Reductions that read the same memory share a loop; values are those of the graph as written.
#include "engine/codegen/joined_sums.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

UOp over(UOp term, UOp range, Op op = Op::ADD) {
  return term.reduce(op, std::vector<UOp>{range});
}
UOp term(int64_t steps, int64_t id) {
  return UOp::range(steps, id, AxisType::Reduce);
}
UOp stored(UOp value, UOp i) {
  return kernel({memory(0, i.vmax() + 1).indexed({i}).store(value).end({i})});
}

/// Loops of the kernel without Opts, the one over the results among them.
int64_t loopsOf(UOp ast, const Target& target = plainTarget(8)) {
  KernelInfo info;
  info.hasOptsToApply = true;
  const LoweredKernel k = checkKernel(ast.withArg(Arg::of(info)), target, 5, {}, 1e-4);
  return std::ranges::count_if(k.uops, [](UOp u) { return u.is(Op::RANGE); });
}

constexpr int64_t kRows = 6, kTerms = 48;
UOp row(UOp buffer, UOp i, UOp k) {
  return read(buffer, i * kTerms + k);
}

} // namespace

TEST_CASE("a sum and a largest value of the same rows share a loop") {
  Pool pool;
  PoolScope scope(pool);
  UOp i = UOp::range(kRows, 0), k = term(kTerms, 1), m = term(kTerms, 2), x = memory(1, kRows * kTerms);
  CHECK(loopsOf(stored(over(row(x, i, k), k) + over(row(x, i, m), m, Op::MAX), i)) == 2);
  UOp y = memory(2, kRows * kTerms), n = term(kTerms, 3);
  UOp products = over(row(x, i, n) * row(y, i, n), n), squares = over(row(y, i, k) * row(y, i, k), k);
  CHECK(loopsOf(stored(over(row(x, i, m), m) + products * squares, i)) == 3); // y alone has a loop of its own
}

TEST_CASE("sums stay apart if their reads or their loops differ") {
  Pool pool;
  PoolScope scope(pool);
  UOp i = UOp::range(kRows, 0), k = term(kTerms, 1), m = term(kTerms, 2);
  UOp x = memory(1, kRows * kTerms), y = memory(2, kRows * kTerms);
  UOp first = over(row(x, i, k), k);
  CHECK(loopsOf(stored(first + over(row(y, i, m), m), i)) == 3);                          // other memory
  CHECK(loopsOf(stored(first + over(row(x, i, UOp::index(kTerms - 1) - m), m), i)) == 3); // another order
  CHECK(loopsOf(stored(first + over(row(x, UOp::index(kRows - 1) - i, m), m), i)) == 3);  // another row
  UOp half = term(kTerms / 2, 3);
  CHECK(loopsOf(stored(first + over(row(x, i, half), half), i)) == 3); // fewer terms
  CHECK(loopsOf(stored(over(row(x, i, m) - first, m), i)) == 3);       // one waits for the other
}

TEST_CASE("sums in shared loops share loops inside of them") {
  Pool pool;
  PoolScope scope(pool);
  constexpr int64_t kInner = 5;
  UOp i = UOp::range(kRows, 0), k = term(8, 1), m = term(8, 2), s = term(kInner, 3), t = term(kInner, 4);
  UOp x = memory(1, kRows * 8 * kInner), y = memory(2, kRows * 8);
  auto inner = [&](UOp outer, UOp r) { return read(x, (i * int64_t{8} + outer) * kInner + r); };
  auto scale = [&](UOp outer) { return read(y, i * int64_t{8} + outer); };
  UOp first = over(over(inner(k, s), s) * scale(k), k),
      second = over(over(inner(m, t), t, Op::MAX) + scale(m), m, Op::MAX);
  CHECK(loopsOf(stored(first * second, i)) == 3);
}

TEST_CASE("a loop holds as many sums as there are registers for") {
  Pool pool;
  PoolScope scope(pool);
  UOp i = UOp::range(kRows, 0), x = memory(1, kRows * kTerms), total;
  for (int64_t n = 0; n < 14; ++n) {
    UOp k = term(kTerms, n + 1), value = row(x, i, k);
    UOp sum = over(value - value.constLike(0.25 * static_cast<double>(n)), k);
    total = total ? total.alu(Op::MAX, {sum}) : sum;
  }
  CHECK(loopsOf(stored(total, i)) == 3); // 12 and 2, of 16 registers
}

TEST_CASE("all loops of a kernel have lanes") {
  Pool pool;
  PoolScope scope(pool);
  UOp i = UOp::range(64, 0), k = term(256, 1), m = term(256, 2);
  UOp x = memory(1, 64 * 256), y = memory(2, 64 * 256);
  UOp sums = over(read(x, i * int64_t{256} + k), k) + over(read(y, i * int64_t{256} + m), m, Op::MAX);
  const LoweredKernel lowered = checkKernel(stored(sums, i), plainTarget(8), 5, {}, 1e-4);
  int64_t single = 0;
  for (UOp u : lowered.uops)
    if (u.is(Op::LOAD) && u.src(0).bufferOf().is(Op::DEFINE_GLOBAL)) single += u.dtype().count() == 1;
  CHECK(single == 0);
}
