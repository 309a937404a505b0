// Rules about nodes without a value of their own: vectors, memory, effects, reductions, gates.
#include "engine/base/context_var.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/algebra.h"
#include "engine/rules/rules.h"
#include "engine/tensor/graph.h"

#include <doctest/doctest.h>

#include <random>

using namespace uopscope;

namespace {

struct KernelRulesFixture {
  Pool pool;
  PoolScope scope{pool};
  UOp r0 = UOp::range(8, 0), r1 = UOp::range(4, 1, AxisType::Reduce);
  UOp a = memory(0), b = memory(1);
  UOp x = b.indexed({r0}).load(), y = b.indexed({r0 + 1}).load();

  UOp memory(int64_t i) {
    return UOp::make(Op::DEFINE_GLOBAL, dtypes::float32.ptr(64), std::initializer_list<UOp>{}, Arg::of(i));
  }
  UOp vec(std::vector<UOp> lanes) { return UOp::vectorize(lanes); }
  UOp pushed(UOp u) { return graphRewrite(u, pushGep()); }
  UOp full(UOp u) { return graphRewrite(u, sym()); }
  UOp effect(UOp u) { return full(UOp::sink(std::vector{u})); }
  UOp noop() { return UOp::make(Op::NOOP, dtypes::void_, std::initializer_list<UOp>{}); }
};

} // namespace

TEST_CASE_FIXTURE(KernelRulesFixture, "GEP goes through what its lanes are known of") {
  UOp v = vec({x, y, x + y, x * y});
  CHECK(pushed(v.gep({2})) == x + y);
  CHECK(pushed(v.gep({1, 0})) == vec({y, x}));
  CHECK(pushed(v.gep({3, 2, 1}).gep({2, 0})) == vec({y, x * y}));
  CHECK(pushed((v * v).gep({1})) == y * y);
  CHECK(pushed(v.cast(dtypes::int32.vec(4)).gep({0})) == x.cast(dtypes::int32));
  UOp wide = UOp::make(Op::LOAD, dtypes::float32.vec(4), {a.indexed({r0})});
  CHECK(pushed(wide.gep({0, 1, 2, 3})) == wide);
  CHECK(pushed(vec({wide.gep({3}), wide.gep({1})})) == wide.gep({3, 1}));
  CHECK(pushed(UOp::make(Op::CAT, dtypes::float32.vec(4), {vec({x, y}), vec({y, x})})) == vec({x, y, y, x}));
  CHECK(pushed(UOp::constant(dtypes::float32.vec(4), 2.0).gep({1, 2})) ==
        UOp::constant(dtypes::float32.vec(2), 2.0));
  UOp lanes = UOp::make(Op::VCONST, dtypes::int32.vec(2), std::initializer_list<UOp>{},
                        Arg::of(std::vector<ConstValue>{ConstValue::ofInt(5), ConstValue::ofInt(6)}));
  CHECK(pushed(lanes.gep({1})) == UOp::constant(dtypes::int32, int64_t{6}));
  CHECK(pushed(UOp::make(Op::GEP, dtypes::void_, {noop()}, Arg::of(std::vector<int64_t>{0}))) == noop());
}

TEST_CASE_FIXTURE(KernelRulesFixture, "GEP of whole groups of a WMMA asks for whole groups of its operands") {
  auto operand = [&](int lanes, int64_t i) {
    return UOp::make(Op::LOAD, dtypes::float16.vec(lanes), {memory(i).indexed({r0})});
  };
  WmmaArg arg{"WMMA", {8, 8, 8}, dtypes::float16, dtypes::float16, "CUDA", 32, {{{0, 2}}, {{0, 2}}, {{0, 2}}},
              {}};
  UOp wmma = UOp::make(Op::WMMA, dtypes::float16.vec(4), {operand(4, 3), operand(4, 4), operand(4, 5)},
                       Arg::of(arg));
  UOp upper = pushed(wmma.gep({2, 3}));
  REQUIRE(upper.is(Op::WMMA));
  CHECK(upper.dtype() == dtypes::float16.vec(2));
  CHECK(upper.src(0) == operand(4, 3).gep({2, 3}));
  CHECK(pushed(wmma.gep({1, 2})).is(Op::GEP));
}

TEST_CASE_FIXTURE(KernelRulesFixture,
                  "a vector of constants is one constant, and a vector of values stays under a SINK") {
  auto lanes = [](std::initializer_list<int64_t> values) {
    std::vector<UOp> all;
    for (int64_t v : values) all.push_back(UOp::constant(dtypes::int32, v));
    return UOp::vectorize(all);
  };
  UOp constant = graphRewrite(lanes({1, 2, 3}), sym());
  CHECK(constant.is(Op::VCONST));
  CHECK(graphRewrite(lanes({1, 2, 3}) + lanes({4, 3, 2}), sym()) ==
        UOp::constant(dtypes::int32.vec(3), int64_t{5}));
  CHECK(graphRewrite(lanes({7, 7}), sym()) == UOp::constant(dtypes::int32.vec(2), int64_t{7}));
  CHECK(graphRewrite(UOp::sink(std::vector{constant}), sym()).src(0) == constant);
}

TEST_CASE_FIXTURE(KernelRulesFixture, "vectors of equal lanes compute one lane") {
  UOp v = UOp::make(Op::LOAD, dtypes::float32.vec(4), {a.indexed({r0})});
  CHECK(full(x.broadcast(4) + y.broadcast(4)) == (x + y).broadcast(4));
  CHECK(full(v + v.constLike(int64_t{0})) == v);
  CHECK(full(v * v.constLike(int64_t{1})) == v);
  CHECK(full(v.constLike(int64_t{1}) * v) == v);
  CHECK(full(v * v.constLike(int64_t{0})) == v.constLike(int64_t{0}));
  CHECK(full(v + v.constLike(int64_t{2})) == v + v.constLike(int64_t{2}));
  CHECK(full(v.constLike(int64_t{3}) + v.constLike(int64_t{2})) == v.constLike(int64_t{5}));
}

TEST_CASE_FIXTURE(KernelRulesFixture, "loads and stores that do nothing") {
  UOp at = a.indexed({r0}), nowhere = a.indexed({UOp::invalid()});
  CHECK(effect(at.store(at.load())).srcCount() == 0);
  CHECK(effect(nowhere.store(x)).srcCount() == 0);
  CHECK(full(nowhere.load()) == UOp::constant(dtypes::float32, 0.0));
  CHECK(full(nowhere.load({x})) == x);
  UOp stored = effect(at.store((r0 < 3).where(x, at.load())));
  CHECK(stored.src(0) == a.indexed({r0.validWhere(r0 < 3)}).store(x));
  CHECK(effect(at.store((r0 < 3).where(at.load(), x))).src(0) ==
        a.indexed({r0.validWhere((r0 < 3).logicalNot())}).store(x));
}

TEST_CASE_FIXTURE(KernelRulesFixture, "effects in one list") {
  UOp s = a.indexed({r0}).store(x), t = a.indexed({r0 + 1}).store(y);
  CHECK(full(UOp::sink(std::vector{UOp::sink(std::vector{s, t}), noop()})) == UOp::sink(std::vector{s, t}));
  CHECK(full(UOp::make(Op::GROUP, dtypes::void_, {s})) == s);
  CHECK(effect(noop().end({r0})).srcCount() == 0);
  UOp after = a.after(std::vector{UOp::make(Op::GROUP, dtypes::void_, {s, t})});
  CHECK(graphRewrite(after, symbolic()) == a.after(std::vector{s, t}));
  CHECK(graphRewrite(UOp::make(Op::AFTER, a.dtype(), {a}), symbolic()) == a);
}

TEST_CASE_FIXTURE(KernelRulesFixture, "factors leave a reduction they do not depend on") {
  UOp inner = b.indexed({r1}).load();
  std::vector<UOp> loops{r1};
  CHECK(full((inner * x).reduce(Op::ADD, loops)) == inner.reduce(Op::ADD, loops) * x);
  UOp two = x.constLike(int64_t{2}), minus = x.constLike(int64_t{-2});
  CHECK(full((inner * two).reduce(Op::MAX, loops)) == inner.reduce(Op::MAX, loops) * two);
  CHECK(full((inner * minus).reduce(Op::MAX, loops)) == (inner * minus).reduce(Op::MAX, loops));
  CHECK(full((inner * x).reduce(Op::MAX, loops)) == (inner * x).reduce(Op::MAX, loops));
}

TEST_CASE_FIXTURE(KernelRulesFixture, "products of small floats are exact in the type of their sum") {
  auto reduced = [&](DType small, DType sum, Op op) {
    UOp memory = UOp::make(Op::DEFINE_GLOBAL, small.ptr(64), {}, Arg::of(int64_t{7}));
    UOp p = memory.indexed({r0}).load(), q = memory.indexed({r1}).load();
    std::vector<UOp> loops{r0, r1};
    UOp rounded = (p * q).cast(sum).reduce(op, loops), exact = (p.cast(sum) * q.cast(sum)).reduce(op, loops);
    return full(rounded) == full(exact);
  };
  CHECK(reduced(dtypes::float16, dtypes::float32, Op::ADD));
  CHECK(reduced(dtypes::bfloat16, dtypes::float32, Op::ADD));
  CHECK(reduced(dtypes::float16, dtypes::float64, Op::ADD));
  CHECK_FALSE(reduced(dtypes::float16, dtypes::float32, Op::MAX));
  CHECK_FALSE(reduced(dtypes::float32, dtypes::float64,
                      Op::ADD)); // 48 bits in a double would do, but it is float32 that was asked for
  CHECK_FALSE(reduced(dtypes::int8, dtypes::int32, Op::ADD));
  ContextScope strict({{"STRICT_FLOAT", 1}});
  CHECK_FALSE(reduced(dtypes::float16, dtypes::float32, Op::ADD));
}

TEST_CASE_FIXTURE(KernelRulesFixture, "gates move to loads, and lose what has nothing to do with the index") {
  UOp load = b.indexed({r0}).load(), zero = load.constLike(int64_t{0});
  UOp moved = graphRewrite((r0 < 3).where(load, zero), moveWhereOnLoad());
  CHECK(moved == b.indexed({r0.validWhere(r0 < 3)}).load());
  CHECK(graphRewrite((r0 < 3).where(zero, load), moveWhereOnLoad()) ==
        b.indexed({r0.validWhere((r0 < 3).logicalNot())}).load());
  UOp otherLoop = (r1 < 2).where(load, zero);
  CHECK(graphRewrite(otherLoop, moveWhereOnLoad()) == otherLoop);
  CHECK(graphRewrite(((r0 < 3) & (r1 < 2)).where(load, zero), moveWhereOnLoad()) ==
        (r1 < 2).where(b.indexed({r0.validWhere(r0 < 3)}).load(), zero));
  CHECK(graphRewrite(r0.validWhere((r0 < 3) & (r1 < 2)), dropAndClauses()) == r0.validWhere(r0 < 3));
}

TEST_CASE_FIXTURE(KernelRulesFixture, "a range and its own extent") {
  UOp n = UOp::variable("n", 1, 10), r = UOp::range(n, {5});
  CHECK(simplify(r % n) == r);
  CHECK(simplify(r / n) == UOp::index(0));
  CHECK(simplify(UOp::range(1, 6) + r) == r);
}

TEST_CASE_FIXTURE(KernelRulesFixture, "what holds behind a gate") {
  UOp n = UOp::variable("n", 0, 20);
  CHECK(givenValid(n < 4, n / 4) == UOp::index(0));
  CHECK(givenValid((n < 8) & (n >= 4), n / 4) == UOp::index(1));
  CHECK(givenValid(n < 4, r0 + 1) == r0 + 1);
  CHECK(full((n < 8) & (n < 4) & (n < 30)) == (n < 4));
  CHECK(full((n < 4) & (n / 4 < 1)) == (n < 4));
}

TEST_CASE_FIXTURE(KernelRulesFixture, "what a gate says of some terms of a sum holds in a longer sum") {
  std::vector<UOp> v;
  for (int i = 0; i < 4; ++i) v.push_back(UOp::variable(std::string(1, static_cast<char>('a' + i)), 0, 3));
  auto positive = [](UOp u) { return (u < 1).logicalNot(); };
  UOp pairs = positive(v[0] + v[1]) & positive(v[2] + v[3]);
  CHECK(givenValid(pairs, (v[0] + v[1] + v[2] + v[3] + 28) / 30) == UOp::index(1));
  CHECK(givenValid(v[0] + v[2] < 3, (v[0] * 2 + v[1] + v[2] * 2) / 8) == UOp::index(0));
  CHECK(givenValid(v[0] + v[1] < 3, (v[0] + v[2]) / 4) == (v[0] + v[2]) / 4); // a term is missing

  // Wherever the gate holds, the simplified index has the value of the index.
  std::mt19937 draw(3);
  auto upTo = [&](int most) { return static_cast<int64_t>(draw() % static_cast<unsigned>(most + 1)); };
  auto sum = [&] {
    UOp s = UOp::index(upTo(6) - 3);
    for (UOp x : v)
      if (upTo(2)) s = s + x * (upTo(6) - 2);
    return s;
  };
  int changed = 0;
  for (int round = 0; round < 200; ++round) {
    UOp gate = (sum() < upTo(8) - 2) & (upTo(1) ? positive(sum()) : sum() < 5);
    UOp index = upTo(1) ? (sum() + upTo(12)) / (upTo(6) + 1) : (sum() + sum()) % (upTo(6) + 1);
    UOp simple = givenValid(gate, index);
    changed += simple != simplify(index);
    for (int at = 0; at < 256; ++at) {
      std::vector<std::pair<UOp, UOp>> values;
      for (int i = 0; i < 4; ++i) values.emplace_back(v[static_cast<size_t>(i)], UOp::index(at >> 2 * i & 3));
      UOpMap<UOp> map(values.begin(), values.end());
      auto valueOf = [&](UOp u) { return simplify(u.substitute(map)); };
      if (valueOf(gate).isConst(1)) REQUIRE(valueOf(simple) == valueOf(index));
    }
  }
  CHECK(changed > 20);
}

TEST_CASE_FIXTURE(KernelRulesFixture, "lowering of index: gates, loops, accesses") {
  UOp gated = b.indexed({(r0 + 1).validWhere(r0 < 3)});
  UOp sink = UOp::sink(std::vector{a.indexed({r0}).store(gated.load()).end({r0})});
  UOp low = graphRewrite(sink, lowerIndexDtype());
  for (UOp u : low.toposort()) CHECK(u.dtype().kind() != Scalar::Index);
  UOp loop = UOp::range(UOp::constant(dtypes::int32, int64_t{8}), {0}, AxisType::Loop, dtypes::int32);
  CHECK(low ==
        UOp::sink(std::vector{a.indexed({loop}).store(b.indexed({loop + 1, loop < 3}).load()).end({loop})}));
  UOp far = graphRewrite(UOp::sink(std::vector{b.indexed({r0 * (int64_t{1} << 40)})}), lowerIndexDtype());
  CHECK(far.src(0).src(1).dtype() == dtypes::int64);
}

TEST_CASE_FIXTURE(KernelRulesFixture, "questions about integers") {
  UOp n = UOp::variable("n", 1, 10);
  CHECK(constFactor(r0 * 6 + n * 4) == 2);
  CHECK(constFactor(r0) == 1);
  CHECK(constFactor(UOp::index(6) + UOp::index(4)) == 2); // read off the form: nothing is added
  CHECK(constFactor(UOp::index(5) * UOp::index(7)) == 5);
  CHECK(divides(r0 * 6 + 12, 3).render() == "r0*2+4");
  CHECK(!divides(r0 * 6 + 1, 3));
  CHECK(divideExact(r0 * n * 2 + n, n).render() == "r0*2+1");
  CHECK(!divideExact(r0 + n, n));
  CHECK(gcd(std::vector{r0 * n * 4, n * 6}).render() == "n*2");
  CHECK(popConst(r0 + 5) == std::pair{r0, int64_t{5}});
  CHECK(splitUop(r0 + n + 5, Op::ADD).size() == 3);
  CHECK(isIncreasing(r0 * 4 + n / 2));
  CHECK(!isIncreasing(r0 * -1));
  CHECK(graph::smax(Sint(3), Sint(4)) == Sint(4));
  CHECK(graph::smin(Sint(n), Sint(20)) == Sint(n));
  CHECK(graph::smax(Sint(n), Sint(0)) == Sint(n));
}
