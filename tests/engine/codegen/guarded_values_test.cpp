// Values that a condition seldom lets through: what becomes a loop of no or one step, what stays, and that the results are the
// same.
#include "engine/base/context_var.h"
#include "engine/render/llvm_renderer.h"
#include "kernels.h"
#include "oracle.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

UOp number(UOp like, double v) {
  return UOp::constant(like.dtype(), v);
}
/// A polynomial: two instructions a term.
UOp longOf(UOp x, int terms) {
  UOp sum = x;
  for (int i = 0; i < terms; ++i) sum = sum * x + number(x, 0.25 / (i + 1));
  return sum;
}
UOp isNear(UOp x) {
  return x < number(x, 0.5);
}
/// Twice x where x is small, and a polynomial of x anywhere else.
UOp guarded(UOp x, int terms = 30) {
  const UOp near = isNear(x);
  return near.where(x + x, longOf(near.where(number(x, 1), x), terms));
}
int loopsOfData(const LoweredKernel& k) {
  return static_cast<int>(
      std::ranges::count_if(k.uops, [](UOp u) { return u.is(Op::RANGE) && u.src(0).below().has(Op::LOAD); }));
}
/// The loops of no or one step in the kernel of 64 such values, whose results the interpreter and the oracle agree on.
int loopsOf(const std::function<UOp(UOp)>& f, int lanes) {
  return loopsOfData(checkKernel(elementwise(64, f), plainTarget(lanes), 5));
}

} // namespace

TEST_CASE("a guarded value is computed where some lane takes it") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 2}});
  for (int lanes : {1, 4, 8, 16}) {
    CAPTURE(lanes);
    CHECK(loopsOf([](UOp x) { return guarded(x); }, lanes) > 0);
    // The same with the sides exchanged.
    auto other = [](UOp x) {
      const UOp far = number(x, 0.5) < x;
      return far.where(longOf(far.where(x, number(x, 1)), 30), x + x);
    };
    CHECK(loopsOf(other, lanes) > 0);
  }
}

TEST_CASE("16 lanes are asked at once whether any takes a guarded value") {
  Pool pool;
  PoolScope scope(pool);
  for (const int lanes : {4, 16}) {
    CAPTURE(lanes);
    const Target target = plainTarget(lanes);
    const LoweredKernel k = lowerKernel(elementwise(64, [](UOp x) { return guarded(x); }), target);
    const bool isAskedAtOnce =
        LlvmRenderer(target).render(k).find("llvm.vector.reduce.or.v16i1") != std::string::npos;
    CHECK(isAskedAtOnce == (lanes == 16));
  }
}

TEST_CASE("values of one condition share a loop, and those of a later condition wait for it") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 2}, {"NOOPT", 1}});
  auto twoOfOne = [](UOp x) {
    const UOp near = isNear(x), guard = near.where(number(x, 1), x), far = longOf(guard, 30);
    return near.where(x, far) * near.where(number(x, 3) + x, far * far);
  };
  CHECK(loopsOf(twoOfOne, 1) == 1);
  CHECK(loopsOf([](UOp x) { return guarded(guarded(x)); }, 1) == 2);
}

TEST_CASE("values of one condition in different loops, with a sum between them, have loops of their own") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 2}, {"NOOPT", 1}});
  const auto choice = [](UOp isNear, UOp near, UOp value) {
    return isNear.where(near, longOf(isNear.where(number(value, 1), value), 30));
  };
  const UOp i = UOp::range(6, 0), j = UOp::range(5, 1), k = UOp::range(7, 2, AxisType::Reduce);
  const UOp x = read(memory(1, 6), i), near = isNear(x), first = choice(near, x + x, x);
  const UOp sum = (first * read(memory(2, 7), k)).reduce(Op::ADD, std::vector<UOp>{k});
  const UOp small = (sum * sum + number(sum, 1)).alu(Op::RECIPROCAL); // a polynomial of it errs little
  // In the loop over j, and in the same loop as the first.
  const UOp inner = choice(near, x, small * read(memory(3, 30), i * 5 + j)), same = choice(near, x, small);
  const auto check = [&](UOp value, std::vector<UOp> ranges, int64_t size, UOp at) {
    const UOp ast = kernel({memory(0, size).indexed({at}).store(value).end(ranges)});
    CHECK(loopsOfData(checkKernel(ast, plainTarget(1), 5)) == 2);
  };
  check(inner, {i, j}, 30, i * 5 + j);
  check(same, {i}, 6, i);
}

TEST_CASE("values of two conditions that wait for each other's have loops of their own") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 2}, {"NOOPT", 1}});
  const auto choice = [](UOp isNear, UOp near, UOp value) {
    return isNear.where(near, longOf(isNear.where(number(value, 1), value), 30));
  };
  const auto small = [](UOp v) { return (v * v + number(v, 1)).alu(Op::RECIPROCAL); };
  const UOp i = UOp::range(6, 0), x = read(memory(1, 6), i), y = read(memory(2, 6), i);
  const UOp ofX = choice(isNear(x), x, x), ofY = choice(isNear(y), y, y);
  const UOp crossed = choice(isNear(x), x, small(ofY)) + choice(isNear(y), y, small(ofX));
  const UOp ast = kernel({memory(0, 6).indexed({i}).store(crossed).end({i})});
  CHECK(loopsOfData(checkKernel(ast, plainTarget(1), 5)) == 4);
}

TEST_CASE("guarded values inside a reduction, and of a kernel without loops") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"SPEC", 2}});
  UOp i = UOp::range(6, 0), k = UOp::range(24, 1, AxisType::Reduce);
  const UOp sum = guarded(read(memory(1, 144), i * 24 + k)).reduce(Op::ADD, std::vector<UOp>{k});
  const UOp ast = kernel({memory(0, 6).indexed({i}).store(guarded(sum)).end({i})});
  for (int lanes : {1, 8}) CHECK(loopsOfData(checkKernel(ast, plainTarget(lanes), 5)) > 1);
  const LoweredKernel one = checkKernel(elementwise(1, [](UOp x) { return guarded(x); }), plainTarget(8), 5);
  CHECK(loopsOfData(one) == 1);
  CHECK(one.estimates.ops.isInt()); // a number: the loop counts as not taken
}

TEST_CASE("a value stays where it is without a guard, too small, needed elsewhere, or of a type without "
          "registers") {
  Pool pool;
  PoolScope scope(pool);
  ContextScope settings({{"NOOPT", 1}});
  auto unguarded = [](UOp x) { return isNear(x).where(x + x, longOf(x, 30)); };
  auto elsewhere = [](UOp x) {
    const UOp near = isNear(x), far = longOf(near.where(number(x, 1), x), 30);
    return near.where(x + x, far) + far;
  };
  auto ofBools = [](UOp x) {
    const UOp near = isNear(x), far = longOf(near.where(number(x, 1), x), 30);
    return near.where(x < number(x, 0.25), far < number(x, 1));
  };
  CHECK(loopsOf(unguarded, 1) == 0);
  CHECK(loopsOf([](UOp x) { return guarded(x, 5); }, 1) == 0);
  CHECK(loopsOf(elsewhere, 1) == 0);
  CHECK(loopsOf(ofBools, 1) == 0);
}

TEST_CASE("the threads of a GPU keep both sides") {
  Pool pool;
  PoolScope scope(pool);
  Target gpu = plainTarget(1);
  gpu.hasLocal = true;
  CHECK(loopsOfData(lowerKernel(elementwise(64, [](UOp x) { return guarded(x); }), gpu)) == 0);
}
