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
