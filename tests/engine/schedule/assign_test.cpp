// Assignments: the values read before, beside and after them.
#include "schedule_fixture.h"

using namespace uopscope;
using namespace uopscope::test;

namespace {

std::vector<double> asDoubles(const Elements& v) {
  std::vector<double> out;
  for (const ConstValue& c : v) out.push_back(c.asDouble());
  return out;
}
std::vector<double> storedNumbers(Fixture& f, UOp u) {
  return asDoubles(ArrayEvaluator(f.memory)(u));
}

} // namespace

TEST_CASE("an update in place is one kernel on one buffer") {
  Fixture f;
  UOp a = f.buffer(8);
  auto old = asDoubles(f.memory[a.id()]);
  UOp x = assign(a, a + filled(1, {8}));
  Schedule s = f.schedule({x});
  REQUIRE(s.items.size() == 1);
  CHECK(s.items[0].buffers.size() == 1);
  CHECK(Fixture::became(s, x) == a);
  f.run(s);
  for (size_t i = 0; i < 8; ++i) CHECK(f.memory[a.id()][i].asDouble() == old[i] + 1);
}

TEST_CASE("a value that reads its target elsewhere reads a copy") {
  Fixture f;
  UOp a = f.buffer(16), view = reshape(a, {4, 4});
  auto old = asDoubles(f.memory[a.id()]);
  Schedule s = f.schedule({assign(view, permute(view, {1, 0}) + view)});
  CHECK(s.items.size() == 2);
  f.run(s);
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 4; ++j)
      CHECK(f.memory[a.id()][i * 4 + j].asDouble() == old[i * 4 + j] + old[j * 4 + i]);
}

TEST_CASE("readers of the old contents run first, readers of the new ones after") {
  Fixture f;
  UOp a = f.buffer(32), one = filled(1, {32});
  auto old = asDoubles(f.memory[a.id()]);
  UOp before = reshape(sum(a, {0}), {}), now = assign(a, a + one), after = reshape(sum(now, {0}), {});
  Schedule s = f.schedule({after, before});
  f.run(s);
  double total = 0;
  for (double v : old) total += v;
  CHECK(storedNumbers(f, Fixture::became(s, before))[0] == total);
  CHECK(storedNumbers(f, Fixture::became(s, after))[0] == total + 32);
}

TEST_CASE("old and new contents in one value") {
  Fixture f;
  UOp a = f.buffer(32), now = assign(a, a * a);
  auto old = asDoubles(f.memory[a.id()]);
  UOp both = permute(reshape(now, {4, 8}), {1, 0}) + reshape(a, {8, 4});
  Schedule s = f.schedule({both});
  f.run(s);
  auto got = storedNumbers(f, Fixture::became(s, both));
  for (size_t i = 0; i < 8; ++i)
    for (size_t j = 0; j < 4; ++j) CHECK(got[i * 4 + j] == old[j * 8 + i] * old[j * 8 + i] + old[i * 4 + j]);
  CHECK(asDoubles(f.memory[a.id()])[3] == old[3] * old[3]);
}

TEST_CASE("assignment to a part leaves the rest") {
  Fixture f;
  UOp a = f.buffer(20), part = shrink(reshape(a, {4, 5}), {1, 1}, {3, 4});
  auto old = asDoubles(f.memory[a.id()]);
  Schedule s = f.schedule({assign(part, filled(9, {2, 3}))});
  CHECK(s.items.size() == 1);
  f.run(s);
  for (size_t i = 0; i < 20; ++i) {
    bool inside = i / 5 >= 1 && i / 5 < 3 && i % 5 >= 1 && i % 5 < 4;
    CHECK(f.memory[a.id()][i].asDouble() == (inside ? 9 : old[i]));
  }
}

TEST_CASE("a chain of assignments ends with the last") {
  Fixture f;
  UOp a = f.buffer(40), one = filled(1, {40});
  auto old = asDoubles(f.memory[a.id()]);
  UOp first = assign(a, a + one), x = sum(first, {0}), second = assign(first, first * first),
      y = sum(second, {0});
  Schedule s = f.schedule({x + y});
  f.run(s);
  double want = 0;
  for (double v : old) want += (v + 1) + (v + 1) * (v + 1);
  CHECK(storedNumbers(f, Fixture::became(s, x + y))[0] == want);
  CHECK(f.memory[a.id()][5].asDouble() == (old[5] + 1) * (old[5] + 1));
}

TEST_CASE("a counter that is advanced several times is stored once") {
  Fixture f;
  UOp counter = f.buffer(1);
  double start = f.memory[counter.id()][0].asDouble();
  UOp c1 = assign(counter, counter + filled(10, {1})), c2 = assign(c1, c1 + filled(5, {1}));
  UOp r1 = expand(c1, {6}) * f.tensor({6}), r2 = expand(c2, {6}) * f.tensor({6});
  UOp both = r1 + r2;
  auto x = asDoubles(f.memory[both.src(0).src(1).src(0).id()]),
       y = asDoubles(f.memory[both.src(1).src(1).src(0).id()]);
  Schedule s = f.schedule({both});
  f.run(s);
  auto got = storedNumbers(f, Fixture::became(s, both));
  for (size_t i = 0; i < 6; ++i) CHECK(got[i] == (start + 10) * x[i] + (start + 15) * y[i]);
  CHECK(s.items.size() == 2);
  CHECK(f.memory[counter.id()][0].asDouble() == start + 15);
  CHECK(Fixture::became(s, c1) == counter);
  CHECK(Fixture::became(s, c2) == counter);
}

TEST_CASE("a short update from another buffer that is assigned too runs before that one") {
  Fixture f;
  UOp weights = f.tensor({3}), mean = f.tensor({3});
  UOp w = weights.src(0), m = mean.src(0);
  auto oldW = asDoubles(f.memory[w.id()]), oldM = asDoubles(f.memory[m.id()]);
  UOp newM = assign(mean, mean + weights);
  UOp newW = assign(weights, weights - newM * expand(sum(newM, {0}), {3}));
  Schedule s = f.schedule({newW, newM});
  f.run(s);
  double total = 0;
  for (size_t i = 0; i < 3; ++i) total += oldM[i] + oldW[i];
  for (size_t i = 0; i < 3; ++i) {
    CHECK(f.memory[m.id()][i].asDouble() == oldM[i] + oldW[i]);
    CHECK(f.memory[w.id()][i].asDouble() == oldW[i] - (oldM[i] + oldW[i]) * total);
  }
}

TEST_CASE("assigning to something without a buffer is the value itself") {
  Fixture f;
  UOp a = f.tensor({3}), x = assign(a + a, a * a);
  f.check({x}, 1);
}

TEST_CASE("an assignment is stored where the only reader takes its value as it comes") {
  Fixture f;
  UOp a = f.buffer(64);
  auto old = asDoubles(f.memory[a.id()]);
  UOp now = assign(a, a + filled(1, {64})), twice = now * filled(2, {64});
  Schedule s = f.schedule({twice});
  CHECK(Fixture::became(s, now) == a);
  f.run(s);
  for (size_t i = 0; i < 64; ++i) CHECK(f.memory[a.id()][i].asDouble() == old[i] + 1);
}

TEST_CASE("an assignment to a permuted buffer is read in its own order") {
  Fixture f;
  UOp a = f.buffer(40), view = permute(reshape(a, {5, 8}), {1, 0});
  UOp now = assign(view, view + filled(1, {8, 5})), copy = contiguous(now);
  auto old = asDoubles(f.memory[a.id()]);
  Schedule s = f.schedule({copy});
  f.run(s);
  auto got = storedNumbers(f, Fixture::became(s, copy));
  for (size_t i = 0; i < 8; ++i)
    for (size_t j = 0; j < 5; ++j) CHECK(got[i * 5 + j] == old[j * 8 + i] + 1);
  for (size_t i = 0; i < 40; ++i) CHECK(f.memory[a.id()][i].asDouble() == old[i] + 1);
}
