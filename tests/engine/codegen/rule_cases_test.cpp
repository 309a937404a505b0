// Single rules of code generation that kernels reach rarely: each case has a node and the result of the rule
// alone.
#include "engine/codegen/decompositions.h"
#include "engine/codegen/expander.h"
#include "engine/codegen/final_rules.h"
#include "engine/codegen/lane_rules.h"
#include "engine/codegen/memory.h"
#include "engine/codegen/well_formed.h"
#include "engine/rewrite/observer.h"
#include "engine/rules/algebra.h"
#include "engine/rules/rules.h"
#include "engine/uop/sint.h"
#include "kernels.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

struct CodegenRulesFixture {
  Pool pool;
  PoolScope scope{pool};
  UOp r = UOp::range(8, 0), x = UOp::variable("x", 0, 9), i = UOp::variable("i", -9, 9, dtypes::int32);
  UOp p = memory(0, 64), loaded = p.indexed({r}, dtypes::float32.ptr(64)).load();

  /// The result of the rule with that name on the node; null where it declines.
  UOp apply(const PatternMatcher& rules, const char* name, UOp u, PassContext ctx = {}) {
    for (const auto& rule : rules.rules())
      if (rule->name() == name)
        return PatternMatcher(std::vector<std::shared_ptr<const Rule>>{rule})
            .rewrite(u, ctx, Observer::current());
    FAIL("no rule is called " << name);
    return {};
  }
  UOp gep(UOp v, const std::vector<int64_t>& lanes) {
    return UOp::make(Op::GEP, v.dtype().scalar().vec(static_cast<int>(lanes.size())), {v}, Arg::of(lanes));
  }
  /// Lanes 0..n-1 of axis 7.
  UOp unrolled(UOp vector, UOp like) {
    return UOp::make(Op::UNROLL, like.dtype(), {vector},
                     Arg::of(std::vector<int64_t>{7, vector.dtype().count()}));
  }
  UOp lanes(DType d, const std::vector<int64_t>& values) {
    std::vector<UOp> all;
    for (int64_t v : values) all.push_back(UOp::constant(d, v));
    return UOp::vectorize(all);
  }
};

} // namespace

TEST_CASE_FIXTURE(CodegenRulesFixture, "rules of early passes") {
  PatternMatcher early({wellFormedRules()});
  UOp row = UOp::make(Op::INDEX, p.dtype(), {p, r});
  UOp both = UOp::make(Op::INDEX, dtypes::float32, {row, x});
  CHECK(apply(early, "index-of-index", both) == UOp::make(Op::INDEX, dtypes::float32, {p, r, x}));
  UOp bound = UOp::make(Op::BIND, dtypes::index, {x, UOp::index(3)});
  CHECK(apply(early, "unbind", bound) == x);
  UOp shaped = UOp::make(Op::RESHAPE, p.dtype(), {p, shapeToUOp(Shape{8, 8})});
  UOp element = shaped.indexed({r}, p.dtype());
  CHECK(apply(early, "element-by-one-index", element.store(loaded)) ==
        p.indexed({r}, p.dtype()).store(loaded));
  CHECK(apply(early, "movement-into-index", shaped.indexed({r}, dtypes::float32)) ==
        p.indexed({r}, dtypes::float32));
  CHECK_FALSE(apply(early, "element-by-one-index", shaped.indexed({r, x}, p.dtype()).store(loaded)));
  UOp effect = p.indexed({r}).store(loaded);
  UOp after = UOp::make(Op::AFTER, p.dtype(), {shaped, effect});
  UOp moved = apply(early, "movement-after-order", after);
  REQUIRE(moved);
  CHECK(moved.is(Op::RESHAPE));
  CHECK(moved.src(0) == p.after(std::vector{effect}));
  UOp closed = UOp::make(Op::END, dtypes::void_, {moved, r});
  CHECK(apply(early, "effects-of-order", closed) == effect.end({r}));
  CHECK(apply(early, "effects-of-order", UOp::sink(std::vector{after})) == UOp::sink(std::vector{effect}));
  UOp address = p.indexed({r}, dtypes::float32.ptr(64));
  CHECK(apply(early, "convert-stored-value", address.store(r)) == address.store(r.cast(dtypes::float32)));
  CHECK_FALSE(apply(early, "convert-stored-value", address.store(loaded)));
}

TEST_CASE_FIXTURE(CodegenRulesFixture, "rules of the expander") {
  PatternMatcher expander({expanderRules()});
  UOp four = lanes(dtypes::int32, {3, 1, 4, 1}), u = unrolled(four, i);
  UOp nested = UOp::make(Op::UNROLL, i.dtype(), {u}, Arg::of(std::vector<int64_t>{8, 1}));
  UOp joined = apply(expander, "expand-nested", nested);
  REQUIRE(joined);
  CHECK(joined.src(0) == four);
  CHECK(joined.arg().ints() == std::vector<int64_t>{7, 4, 8, 1});

  UOp pair = UOp::vectorize(std::vector{u, i});
  UOp wide = apply(expander, "expand-lanes", pair);
  REQUIRE(wide);
  CHECK(wide.is(Op::UNROLL));
  CHECK(wide.src(0).dtype() == dtypes::int32.vec(8));
  for (size_t k = 0; k < 4; ++k) {
    CHECK(wide.src(0).src(2 * k) == four.src(k));
    CHECK(wide.src(0).src(2 * k + 1) == i);
  }

  UOp text = UOp::make(Op::CUSTOMI, dtypes::int32, {u}, Arg::of("twice({0})"));
  UOp copies = apply(expander, "expand-custom", text);
  REQUIRE(copies);
  CHECK(copies.src(0).src(2) == text.withSrc({four.src(2)}));

  UOp contracted = UOp::make(Op::CONTRACT, dtypes::int32.vec(4), {u}, Arg::of(std::vector<int64_t>{7, 4}));
  CHECK(apply(expander, "contract", contracted) == four);
  UOp same = apply(expander, "contract", contracted.withSrc({i}));
  CHECK(same == UOp::vectorize(std::vector{i, i, i, i}));
}

TEST_CASE_FIXTURE(CodegenRulesFixture, "rules of memory and lanes") {
  UOp address = p.indexed({r}, dtypes::float32.ptr(64)), value = UOp::constant(dtypes::float32, 2.0);
  CHECK(apply(PatternMatcher({addLoadRules()}), "store-through-load", address.load().store(value)) ==
        address.store(value));
  UOp gated = UOp::make(Op::INDEX, address.dtype(), {p, r, UOp::boolean(true)});
  CHECK(apply(PatternMatcher({accessRules()}), "index-gate-true", gated) == address);
  PatternMatcher lane({laneRules()});
  UOp a = lanes(dtypes::int32, {1, 2}), b = lanes(dtypes::int32, {3, 4});
  UOp cat = UOp::make(Op::CAT, dtypes::int32.vec(5), {a, i, b});
  CHECK(apply(lane, "cat-of-vectors", cat) ==
        UOp::vectorize(std::vector{a.src(0), a.src(1), i, b.src(0), b.src(1)}));
  UOp vconst = UOp::make(Op::VCONST, dtypes::int32.vec(2), {},
                         Arg::of(std::vector<ConstValue>{ConstValue::ofInt(1), ConstValue::ofInt(2)}));
  CHECK(apply(lane, "vconst-lanes", vconst) == a);
  // Lanes of an address are taken apart; conditions on values are not, also where a cast compares them with zero.
  UOp places = UOp::make(Op::ADD, dtypes::index.vec(2),
                         {UOp::vectorize(std::vector{r, x}), lanes(dtypes::index, {3, 4})});
  CHECK(apply(lane, "gep-of-index-arithmetic", gep(places, {1})) ==
        UOp::make(Op::ADD, dtypes::index, {x, UOp::index(4)}));
  UOp f = UOp::variable("f", -9, 9, dtypes::float32), g = UOp::variable("g", -9, 9, dtypes::float32);
  UOp flags = UOp::make(Op::CAST, dtypes::bool_.vec(2), {UOp::vectorize(std::vector{f, g})});
  UOp unset = UOp::make(Op::CMPNE, dtypes::bool_.vec(2), {flags, UOp::boolean(true).broadcast(2)});
  CHECK_FALSE(apply(lane, "gep-of-index-arithmetic", gep(unset, {1})));
}

TEST_CASE_FIXTURE(CodegenRulesFixture, "rules for what a target lacks") {
  Target bare = plainTarget();
  bare.nativeOps = OpSet{Op::ADD, Op::CMPLT, Op::WHERE};
  TargetContext ctx{bare};
  UOp j = UOp::variable("j", -9, 9, dtypes::int32);
  CHECK(apply(PatternMatcher({decompositionRules()}), "max-by-compare", i.maximum(j), ctx) ==
        (i < j).where(j, i));
  UOp f = UOp::variable("f", -9, 9, dtypes::float32), g = UOp::variable("g", -9, 9, dtypes::float32);
  CHECK(apply(PatternMatcher({decompositionRules()}), "float-max-by-compare", f.maximum(g), ctx) ==
        ((f < g) | g.alu(Op::CMPNE, {g})).where(g, f));
}

TEST_CASE_FIXTURE(CodegenRulesFixture,
                  "a float of what was a small negative number is made by signed conversions") {
  PatternMatcher rules({decompositionRules()});
  Target target = plainTarget();
  TargetContext ctx{target};
  UOp small = i.cast(dtypes::int8), wide = small.cast(dtypes::uint64);
  UOp made = apply(rules, "float-of-wrapped", wide.cast(dtypes::float32), ctx);
  REQUIRE(made);
  CHECK(made.is(Op::WHERE));
  CHECK(made.src(2) == wide.cast(dtypes::int64).cast(dtypes::float32));
  CHECK(apply(rules, "float-of-wrapped", (wide + wide.constLike(5)).cast(dtypes::float64), ctx));
  UOp word = small.cast(dtypes::uint32); // a float64 holds it: halves would lose its last bit
  CHECK(simplify(apply(rules, "float-of-wrapped", word.cast(dtypes::float64), ctx)
                     .substitute({{i, i.constLike(-1)}}))
            .constValue()
            .asDouble() == 4294967295.0);
  UOp positive = UOp::variable("positive", 0, 9, dtypes::int32);
  CHECK_FALSE(apply(rules, "float-of-wrapped", positive.cast(dtypes::uint64).cast(dtypes::float32), ctx));
  CHECK_FALSE(apply(rules, "float-of-wrapped", made.src(1).src(0), ctx));
}

TEST_CASE_FIXTURE(CodegenRulesFixture,
                  "a gated load gives the alternative of its own gate, not through a cast") {
  PatternMatcher last({finalRules()});
  UOp ints = UOp::make(Op::DEFINE_GLOBAL, dtypes::int32.ptr(64), {}, Arg::of(int64_t{0}));
  UOp gate = i < i.constLike(3), other = i.constLike(7);
  UOp at = UOp::make(Op::INDEX, ints.dtype(), {ints, r, gate}), load = at.load();
  UOp given = apply(last, "where-of-gated-load", gate.where(load, other));
  REQUIRE(given);
  CHECK(given.src(1) == other);
  UOp narrowed = load.cast(dtypes::int16).cast(dtypes::int32);
  CHECK_FALSE(apply(last, "where-of-gated-load", gate.where(narrowed, other)));
}

TEST_CASE_FIXTURE(CodegenRulesFixture, "rules that lower index") {
  const PatternMatcher& lower = lowerIndexDtype();
  UOp low = i.cast(dtypes::index), more = UOp::variable("j", 0, 9, dtypes::int32).cast(dtypes::index);
  CHECK(apply(lower, "lower-unary", low.alu(Op::NEG)) == i.alu(Op::NEG).cast(dtypes::index));
  UOp wide = i.cast(dtypes::int64); // the bounds of a MULACC are unknown
  UOp three = UOp::make(Op::MULACC, dtypes::index, {low, low, more});
  CHECK(apply(lower, "lower-mulacc", three) ==
        UOp::make(Op::MULACC, dtypes::int64, {wide, wide, more.src(0).cast(dtypes::int64)})
            .cast(dtypes::index));
  CHECK(apply(lower, "lower-vectorize", UOp::vectorize(std::vector{low, more})) ==
        UOp::vectorize(std::vector{i, more.src(0)}).cast(dtypes::index.vec(2)));
  UOp vector = UOp::vectorize(std::vector{i, more.src(0)}).cast(dtypes::index.vec(2));
  CHECK(apply(lower, "lower-gep", gep(vector, {1})) == gep(vector.src(0), {1}).cast(dtypes::index));
  // A number of memory beside a loop: no 64 bits.
  UOp n = UOp::variable("n", INT32_MIN, INT32_MAX, dtypes::int32),
      q = UOp::variable("q", 0, 9, dtypes::int32);
  UOp five = UOp::constant(dtypes::int32, int64_t{5}).cast(dtypes::index);
  UOp sum = (q.cast(dtypes::int64) + n.cast(dtypes::int64)).cast(dtypes::index);
  CHECK(apply(lower, "compare-apart", sum < five) == (n < -q + 5));
  CHECK(apply(lower, "compare-apart", five < sum) == (-q + 5 < n));
  for (int64_t number : {int64_t{INT32_MIN}, int64_t{-5}, int64_t{4}, int64_t{5}, int64_t{INT32_MAX}})
    for (int64_t step = 0; step < 10; ++step) {
      Binding at{{n, ConstValue::ofInt(number)}, {q, ConstValue::ofInt(step)}};
      CHECK((evaluate(n < -q + 5, at)->i != 0) == (number + step < 5));
      CHECK((evaluate(-q + 5 < n, at)->i != 0) == (5 < number + step));
    }
  UOp far = UOp::constant(dtypes::int32, int64_t{INT32_MIN}).cast(dtypes::index);
  CHECK_FALSE(apply(lower, "compare-apart", sum < far));
  CHECK_FALSE(apply(lower, "compare-apart", q.cast(dtypes::index) < five));
  UOp real = UOp::constant(dtypes::float32, 2.0) + loaded;
  CHECK(apply(lower, "cast-through-long", real.cast(dtypes::index)) ==
        real.cast(dtypes::int64).cast(dtypes::index));
  UOp var = UOp::variable("n", 0, 9, dtypes::int32);
  UOp bind =
      UOp::make(Op::BIND, dtypes::index,
                {var.cast(dtypes::index), UOp::constant(dtypes::int32, int64_t{4}).cast(dtypes::index)});
  CHECK(apply(lower, "lower-bind", bind) ==
        UOp::make(Op::BIND, dtypes::int32, {var, UOp::constant(dtypes::int32, int64_t{4})})
            .cast(dtypes::index));
}
