// The schedule cache: which graphs hit and which miss; a hit is correct and cheap.
#include "engine/base/clock.h"
#include "schedule_fixture.h"

using namespace uopscope;
using namespace uopscope::test;

TEST_CASE("the same computation on other buffers is not scheduled again") {
  Fixture f;
  auto make = [&] {
    UOp a = f.tensor({4, 6}), b = f.tensor({6, 4});
    return matmul(a, b) + filled(1, {4, 4});
  };
  Schedule first = f.check({make()}, 1);
  CHECK_FALSE(first.cacheHit);
  Schedule second = f.check({make()}, 1);
  CHECK(second.cacheHit);
  CHECK(second.items[0].ast == first.items[0].ast);
  CHECK(second.items[0].buffers[0].get() != first.items[0].buffers[0].get());
}

TEST_CASE("what differs in a constant, a shape, a type or an aliased buffer is another schedule") {
  Fixture f;
  UOp a = f.tensor({4}), b = f.tensor({4});
  f.check({a + b}, 1);
  CHECK_FALSE(f.check({a + a}, 1).cacheHit);
  CHECK_FALSE(f.check({a + filled(2, {4})}, 1).cacheHit);
  CHECK_FALSE(f.check({a + filled(3, {4})}, 1).cacheHit);
  CHECK_FALSE(f.check({f.tensor({5}) + f.tensor({5})}, 1).cacheHit);
  CHECK(f.check({b + a}, 1).cacheHit);
}

TEST_CASE("values of bound variables do not matter") {
  Fixture f;
  UOp var = UOp::variable("n", 1, 8);
  auto make = [&](int64_t n) {
    UOp bound = UOp::make(Op::BIND, dtypes::index, {var, UOp::index(n)});
    UOp a = reshape(f.buffer(32), {8, 4});
    Shape zero{0, 0}, end{Sint(bound), Sint(4)};
    UOp rows = UOp::make(Op::SHRINK, a.dtype(), {a, shapeToUOp(zero), shapeToUOp(end)});
    return std::pair(a, sum(rows, {0}));
  };
  for (int64_t n : {3, 8, 1}) {
    auto [a, total] = make(n);
    Schedule s = f.schedule({total});
    CHECK(s.cacheHit == (n != 3));
    REQUIRE(s.vars.size() == 1);
    CHECK(s.vars[0] == std::pair<std::string, int64_t>("n", n));
    f.run(s);
    const Elements &got = f.memoryOf(s.items.back().buffers[0]), &in = f.memory[a.src(0).id()];
    for (size_t j = 0; j < 4; ++j) {
      double want = 0;
      for (size_t i = 0; i < static_cast<size_t>(n); ++i) want += in[i * 4 + j].asDouble();
      CHECK(got[j].asDouble() == want);
    }
  }
}

TEST_CASE("a symbolic result is a part of its buffer") {
  Fixture f;
  UOp bound = UOp::make(Op::BIND, dtypes::index, {UOp::variable("n", 1, 8), UOp::index(5)});
  UOp a = reshape(f.buffer(32), {8, 4});
  Shape zero{0, 0}, end{Sint(bound), Sint(4)};
  UOp rows = UOp::make(Op::SHRINK, a.dtype(), {a, shapeToUOp(zero), shapeToUOp(end)});
  UOp twice = rows + rows;
  Schedule s = f.schedule({twice});
  REQUIRE(s.items.size() == 1);
  UOp at = Fixture::became(s, twice);
  REQUIRE(at);
  CHECK(at.shape() == twice.shape());
  CHECK(at.bufferOf().arg().i() == 32);
  f.run(s);
  for (size_t i = 0; i < 20; ++i)
    CHECK(f.memory[at.bufferOf().id()][i].asDouble() == 2 * f.memory[a.src(0).id()][i].asDouble());
}

TEST_CASE("one variable has one value") {
  Fixture f;
  UOp var = UOp::variable("n", 1, 8);
  auto bound = [&](int64_t n) {
    return UOp::make(Op::BIND, dtypes::index, {var, UOp::index(n)}).cast(dtypes::int32);
  };
  CHECK_THROWS_AS(f.schedule({contiguous(bound(2) + bound(3))}), Error);
}

TEST_CASE("values that are held become their buffers") {
  Fixture f;
  UOp a = f.tensor({4, 6}), b = f.tensor({6, 4});
  UOp m = matmul(a, b), y = matmul(m, a);
  UOp product = m.src(0); // the REDUCE_AXIS below the RESHAPE
  CHECK_FALSE(Fixture::became(f.schedule({y}), product));
  UOpRef held(product);
  Schedule s = f.schedule({y});
  CHECK_FALSE(s.cacheHit);
  UOp at = Fixture::became(s, product);
  REQUIRE(at);
  f.run(s);
  CHECK(ArrayEvaluator(f.memory)(at) == ArrayEvaluator(f.memory)(product));
}

TEST_CASE("a hit costs a fraction of a schedule") {
  Fixture f;
  auto make = [&] {
    UOp x = f.tensor({8, 8});
    for (int k = 0; k < 40; ++k) x = matmul(x, f.tensor({8, 8})).maximum(filled(0, {8, 8}));
    return x;
  };
  UOp one = make(), other = make();
  int64_t t0 = nowNs();
  CHECK_FALSE(f.schedule({one}).cacheHit);
  int64_t t1 = nowNs();
  CHECK(f.schedule({other}).cacheHit);
  int64_t t2 = nowNs();
  MESSAGE("miss ", (t1 - t0) / 1000, " us, hit ", (t2 - t1) / 1000, " us");
  CHECK((t2 - t1) * 5 < t1 - t0);
}

TEST_CASE("intermediates share memory when their lives do not overlap") {
  Fixture f;
  UOp x = f.tensor({16, 16});
  for (int k = 0; k < 6; ++k) x = matmul(x, f.tensor({16, 16}));
  Schedule s = f.schedule({x});
  REQUIRE(s.items.size() == 6);
  int64_t arena = 0;
  for (const ScheduleItem& item : s.items)
    for (UOp b : item.buffers)
      if (b.is(Op::BUFFER_VIEW)) arena = b.src(0).arg().i();
  CHECK(arena == 2 * 16 * 16 * 4);
  for (const ScheduleItem& item : s.items) { // a kernel does not write the memory that it reads
    auto range = [](UOp b) {
      int64_t at = b.is(Op::BUFFER_VIEW) ? b.arg().ints()[1] : 0;
      return std::tuple(b.bufferOf().id(), b.is(Op::BUFFER_VIEW) ? b.src(0).id() : b.id(), at);
    };
    for (size_t k = 1; k < item.buffers.size(); ++k) CHECK(range(item.buffers[0]) != range(item.buffers[k]));
  }
}

TEST_CASE("a contiguous value that is held is stored where its reader takes it as it comes") {
  Fixture f;
  UOp kept = contiguous(f.tensor({6, 7}) * f.tensor({6, 7})), y = kept + filled(1, {6, 7});
  UOpRef held(kept);
  Schedule s = f.schedule({y});
  CHECK(s.items.size() == 1);
  CHECK(Fixture::became(s, kept));
  f.run(s);
}

TEST_CASE("constants that are unlike any other have memory each") {
  Fixture f;
  auto zeros = [&](UOp unique) {
    UOp c = UOp::make(Op::CONST, dtypes::float32, {deviceNode("CPU"), unique},
                      UOp::constant(dtypes::float32, 0.0).arg());
    return contiguous(expand(reshape(c, {1}), {4}));
  };
  UOp a = zeros(newUnique()), b = zeros(newUnique());
  Schedule s = f.schedule({a, b});
  CHECK(Fixture::became(s, a) != Fixture::became(s, b));
  CHECK(f.schedule({zeros(newUnique()), zeros(newUnique())}).cacheHit);
  UOp one = newUnique();
  CHECK_FALSE(f.schedule({zeros(one), zeros(one)}).cacheHit);
}
