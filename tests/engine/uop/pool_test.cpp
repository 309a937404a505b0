// Nodes and pools: identity, ids, import, collection, walking, bounds and ranges.
#include "engine/base/error.h"
#include "engine/uop/uop.h"

#include <doctest/doctest.h>

using namespace uopscope;

TEST_CASE("the same fields give the same node, with ids in creation order") {
  Pool pool;
  PoolScope scope(pool);
  UOp r = UOp::range(16, 0);
  UOp e = r * 4 + 2;
  CHECK(e == UOp::range(16, 0) * 4 + 2);
  CHECK(e != r * 4 + 3);
  CHECK(UOp::index(16).id() == 0);
  CHECK(r.id() == 1);
  CHECK(e.withTag(Arg::of(int64_t{1})) != e);
  CHECK(e.withTag(Arg::of(int64_t{1})).withTag({}) == e);
  CHECK(UOp::constant(dtypes::float32, 0.0) != UOp::constant(dtypes::float32, -0.0));
}

TEST_CASE("constants are held as their type holds them") {
  Pool pool;
  PoolScope scope(pool);
  CHECK(UOp::constant(dtypes::uint8, int64_t{257}) == UOp::constant(dtypes::uint8, int64_t{1}));
  CHECK(UOp::constant(dtypes::int8, int64_t{255}).constValue().i == -1);
  CHECK(UOp::constant(dtypes::float16, 1.0009765625 + 1e-9).constValue().f == 1.0009765625);
  CHECK(UOp::constant(dtypes::bool_, int64_t{5}).constValue().i == 1);
  UOp four = UOp::constant(dtypes::int32.vec(4), int64_t{3});
  CHECK(four.isConst(3));
  CHECK(four.dtype() == dtypes::int32.vec(4));
  CHECK(UOp::constant(dtypes::int32, int64_t{3}).broadcast(4) == four);
}

TEST_CASE("nodes of two pools do not mix; import copies a graph once") {
  Pool a, b;
  UOp e;
  {
    PoolScope scope(a);
    UOp r = UOp::range(8, 0);
    e = (r + 1) * (r + 1);
  }
  PoolScope scope(b);
  CHECK_THROWS_AS(UOp::index(1).alu(Op::ADD, {e}), Error);
  UOpMap<UOp> imported;
  UOp copy = b.import(e, &imported);
  CHECK(copy.key() == e.key());
  CHECK(b.nextId() == 5); // the CONST 1 of the failed sum, then 8, RANGE, ADD, MUL
  CHECK(imported.size() == 5);
  CHECK(b.import(e) == copy);
}

TEST_CASE("ids of a kernel do not depend on what was made before in other pools") {
  auto build = [] {
    Pool pool;
    PoolScope scope(pool);
    return (UOp::range(3, 0) * 2 + 1).id();
  };
  auto first = build();
  { // noise
    Pool pool;
    PoolScope scope(pool);
    for (int64_t i = 0; i < 1000; ++i) UOp::index(i);
  }
  CHECK(build() == first);
}

TEST_CASE("collect frees what nothing pinned reaches") {
  Pool pool;
  PoolScope scope(pool);
  UOpRef kept;
  {
    UOp r = UOp::range(8, 0);
    kept = r * 2;
    for (int64_t i = 10; i < 1010; ++i) r + i;
  }
  size_t before = pool.liveNodes();
  CHECK(pool.collect() == before - 4); // 8, RANGE, 2, MUL stay
  CHECK(pool.liveNodes() == 4);
  CHECK(kept->str() == (UOp::range(8, 0) * 2).str());
  size_t bytes = pool.bytes();
  for (int round = 0; round < 50; ++round) {
    for (int64_t i = 0; i < 1000; ++i) kept.get() + (i + 100);
    pool.collect();
  }
  CHECK(pool.bytes() == bytes);
}

TEST_CASE("slots stay as few as nodes ever lived at once, ids go on rising") {
  Pool pool;
  PoolScope scope(pool);
  UOpRef kept = UOp::variable("x", 0, 10);
  uint32_t largest = 0;
  for (int round = 0; round < 100; ++round) {
    for (int64_t i = 0; i < 100; ++i) {
      UOp sum = kept.get() + (i + 1000 * round);
      largest = std::max(largest, sum.slot());
      CHECK(sum.dependsOn(kept.get()));
      CHECK(sum.id() > sum.src(1).id());
    }
    pool.collect();
  }
  CHECK(largest <= 200);
  CHECK(pool.nextId() == 1 + 100 * 200);
}

TEST_CASE("topological order: sources first, in order, deep chains too") {
  Pool pool;
  PoolScope scope(pool);
  UOp x = UOp::variable("x", 0, 10), y = UOp::variable("y", 0, 10);
  UOp e = (x + y) * (x * y);
  CHECK(e.toposort() == std::vector<UOp>{x, y, x + y, x * y, e});
  UOp chain = x;
  for (int i = 0; i < 100000; ++i) chain = chain.alu(Op::ADD, {y});
  CHECK(chain.toposort().size() == 100002);
  CHECK(chain.vmax() == 10 + 10 * 100000);
  CHECK(chain.dependsOn(y));
  CHECK_FALSE(e.dependsOn(chain));
  CHECK(chain.substitute({{x, y}}).toposort().size() == 100001);
}

TEST_CASE("substitute replaces and does not descend into what it put in") {
  Pool pool;
  PoolScope scope(pool);
  UOp x = UOp::variable("x", 0, 10), y = UOp::variable("y", 0, 10);
  CHECK((x + y).substitute({{x, x * 2}}) == x * 2 + y);
  auto users = (x * y + x).consumerMap();
  CHECK(users[x] == std::vector<UOp>{x * y, x * y + x});
}

TEST_CASE("bounds are sound at the corners") {
  Pool pool;
  PoolScope scope(pool);
  UOp x = UOp::variable("x", -3, 7), r = UOp::range(5, 0);
  auto bounds = [](UOp u) { return std::pair(u.vmin(), u.vmax()); };
  CHECK(bounds(x * r) == std::pair<int64_t, int64_t>(-12, 28));
  CHECK(bounds(x % 4) == std::pair<int64_t, int64_t>(-3, 3));
  CHECK(bounds(x / 2) == std::pair<int64_t, int64_t>(-1, 3));
  CHECK(bounds(r < 5) == std::pair<int64_t, int64_t>(1, 1));
  CHECK(bounds(x < 0) == std::pair<int64_t, int64_t>(0, 1));
  CHECK(bounds(r.validWhere(r < 3)) == std::pair<int64_t, int64_t>(0, 4));
  UOp u64 = UOp::make(Op::DEFINE_GLOBAL, dtypes::uint64, {}, Arg::of(int64_t{0}));
  CHECK((u64 < UOp::constant(dtypes::uint64, int64_t{-1})).vmin() == 0);
  UOp i32 = UOp::make(Op::DEFINE_GLOBAL, dtypes::int32, {}, Arg::of(int64_t{0}));
  CHECK(bounds(i32 + 1) == bounds(i32));
}

TEST_CASE("a condition bounds the branch that it guards, and no number beyond what bounds hold") {
  Pool pool;
  PoolScope scope(pool);
  UOp n = UOp::range(63, 0), tile = (n < 62).where(n * 16, UOp::index(981));
  CHECK(tile.vmin() == 0);
  CHECK(tile.vmax() == 981);
  CHECK((n < 5).where(n, UOp::index(2)).vmax() == 4);
  CHECK((n < 5).where(UOp::index(2), n * 16).vmax() == 62 * 16); // the other branch is not guarded
  CHECK((n < 5).where((n + 1) * 16, UOp::index(0)).vmax() == 63 * 16);
  auto number = [](const char* name) {
    return UOp::make(Op::DEFINE_GLOBAL, dtypes::uint64.ptr(1), {}, Arg::of(int64_t{name[0]}))
        .indexed({UOp::index(0)}, dtypes::uint64);
  };
  UOp a = number("a"), c = number("c");
  CHECK((a < c).where(a, c).vmax() == a.vmax()); // the top bound of uint64 means that there is none
}

TEST_CASE("ranges in scope end where END and REDUCE close them") {
  Pool pool;
  PoolScope scope(pool);
  UOp r0 = UOp::range(4, 0), r1 = UOp::range(5, 1, AxisType::Reduce);
  UOp sum = (r0 * 5 + r1).reduce(Op::ADD, std::vector<UOp>{r1});
  CHECK(sum.ranges() == std::vector<UOp>{r0});
  CHECK((r0 * 5 + r1).ranges() == std::vector<UOp>{r0, r1});
  CHECK(sum.end({r0}).ranges().empty());
  CHECK((sum + 1).ranges() == std::vector<UOp>{r0});
}
