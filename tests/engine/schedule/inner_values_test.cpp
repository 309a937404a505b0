// PCONTIG: values that one kernel alone reads are stored inside it.
#include "engine/base/context_var.h"
#include "schedule_fixture.h"

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// Values of the kernels that they store for themselves.
int innerValues(const Schedule& s) {
  int found = 0;
  for (const auto& item : s.items)
    for (UOp u : item.ast.toposort()) found += u.is(Op::BUFFERIZE);
  return found;
}

} // namespace

TEST_CASE("PCONTIG=2: what is read more often than it has elements stays in its reader's kernel") {
  for (int64_t level : {0, 1, 2}) {
    CAPTURE(level);
    ContextScope settings({{"PCONTIG", level}});
    Fixture f;
    UOp a = f.tensor({4, 5}), b = f.tensor({5, 6}), c = f.tensor({6, 3});
    Schedule s = f.check({matmul(matmul(a, b), c)}, level == 2 ? 1 : 2);
    CHECK(innerValues(s) == (level == 2));
  }
}

TEST_CASE("PCONTIG=2: a chain of sums over rows is one kernel") {
  ContextScope settings({{"PCONTIG", 2}});
  Fixture f;
  UOp a = f.tensor({6, 8}), m = reduce(a, Op::MAX, {1}), x = a - expand(m, {6, 8});
  UOp s = sum(x, {1});
  f.check({x * expand(s, {6, 8})}, 1);
}

TEST_CASE("PCONTIG=2: only outermost loops are shared") {
  ContextScope settings({{"PCONTIG", 2}});
  Fixture f;
  UOp a = f.tensor({6, 8}), b = f.tensor({6, 8});
  UOp columns = sum(a, {0}); // agrees with its reader on the inner loop alone
  CHECK(innerValues(f.check({b * expand(columns, {6, 8})}, 2)) == 0);
}

TEST_CASE("PCONTIG=2: several kernels read it from memory") {
  ContextScope settings({{"PCONTIG", 2}});
  Fixture f;
  UOp a = f.tensor({4, 5}), b = f.tensor({5, 6}), c = f.tensor({6, 3}), d = f.tensor({6, 7});
  UOp ab = matmul(a, b);
  Schedule s = f.check({matmul(ab, c), matmul(ab, d)}, 3);
  CHECK(innerValues(s) == 0);
}

TEST_CASE("rows of a large tensor stay in the kernel that reads them") {
  Fixture f;
  auto softmax = [&](int64_t rows, int64_t columns) {
    Dims all{rows, columns};
    UOp x = f.tensor(all), e = (x - expand(reduce(x, Op::MAX, {1}), all)).alu(Op::EXP2);
    return f.schedule({e / expand(sum(e, {1}), all)});
  };
  Schedule one = softmax(256, 1024);
  CHECK(one.items.size() == 1);
  CHECK(innerValues(one) == 1);
  CHECK(softmax(16, 64).items.size() > 1);     // small
  CHECK(softmax(256, 1001).items.size() > 1);  // no whole vectors
  CHECK(softmax(4, 1 << 15).items.size() > 1); // few rows
  ContextScope never({{"PCONTIG", -1}});
  CHECK(softmax(256, 1024).items.size() > 1);
}

TEST_CASE("a product has a kernel of its own, whatever rows are kept beside it") {
  Fixture f;
  Dims all{512, 512};
  UOp a = f.tensor(all), w = f.tensor(all), y = matmul(a, w);
  // The product is read by the largest value of its rows and by the results.
  CHECK(innerValues(f.schedule({y - expand(reduce(y, Op::MAX, {1}), all)})) == 0);
  // Its own results alone: two readers at the same place.
  UOp gate = (y * y) + y, scale = expand(sum(a, {1}), all);
  for (const auto& item : f.schedule({gate * scale}).items) {
    int sums = 0;
    for (UOp u : item.ast.toposort()) sums += u.is(Op::REDUCE);
    CHECK(sums <= 1);
  }
}

TEST_CASE("the factors of a value are looked at once, however often they are shared") {
  Fixture f;
  UOp x = f.tensor({8, 8}), power = x;
  for (int depth = 0; depth < 27; ++depth) power = power * power;
  CHECK(!f.schedule({power + permute(power, {1, 0})}).items.empty());
}
