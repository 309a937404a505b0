// Every rule keeps the value of the rewritten node: random instances of its pattern are evaluated before and
// after, and random index expressions are compared with brute force.
#include "engine/rewrite/driver.h"
#include "engine/rules/rules.h"
#include "tests/engine/rules/random_graphs.h"

#include <doctest/doctest.h>

#include <set>

using namespace uopscope;
using testing::sameValue;

namespace {

/// Whether the value is defined: a rule need not keep the value of a division by zero or of an index beyond
/// 64 bits.
bool defined(UOp u, const Binding& leaves) {
  for (UOp n : u.toposort()) {
    if ((n.is(Op::IDIV) || n.is(Op::MOD)) && n.dtype().isInt()) {
      auto d = evaluate(n.src(1), leaves);
      if (!d || (!d->isInvalid() && d->i == 0)) return false;
    }
    if (n.is(Op::FDIV) || n.is(Op::RECIPROCAL)) {
      auto d = evaluate(n.src(n.is(Op::FDIV) ? 1 : 0), leaves);
      if (!d || d->asDouble() == 0) return false;
    }
    bool toInt = n.is(Op::CAST) && n.src(0).dtype().isFloat() && n.dtype().isInt();
    if (toInt && n.dtype().isUnsigned()) return false;
    if (OpSet{Op::SHL, Op::SHR}.has(n.op())) {
      auto by = evaluate(n.src(1), leaves);
      if (!by || by->isInvalid() || by->i < 0 || by->i > 8) return false;
    }
  }
  return true;
}

/// Rules about nodes without a value of their own; separate tests cover them.
const std::set<std::string> kElsewhere = {
    "gep-of-gep",          "gep-of-vectorize",     "gep-of-const",     "gep-of-void",
    "gep-in-order",        "gep-through-alu",      "cat-as-vectorize", "geps-of-one-vector",
    "gep-through-wmma",    "alu-of-broadcasts",    "store-own-load",   "store-where-then",
    "store-where-else",    "store-nowhere",        "load-nowhere",     "load-nowhere-else",
    "group-of-one",        "flatten-effects",      "end-of-nothing",   "after-effects",
    "after-nothing",       "mul-out-of-reduce",    "exact-product",    "range-mod-extent",
    "range-div-extent",    "bind-of-const",        "bitcast-bitcast",  "normal-operands",
    "cast-to-same",        "gate-of-invalid",      "simplify-gate",    "gated-given-valid",
    "vector-of-constants", "reads-under-condition"};

} // namespace

TEST_CASE("every rule keeps the value of random instances of its pattern") {
  std::mt19937 random(7);
  constexpr DType kinds[] = {dtypes::index, dtypes::int32,  dtypes::uint32, dtypes::bool_, dtypes::float32,
                             dtypes::int64, dtypes::uint64, dtypes::uint8,  dtypes::int8,  dtypes::index};
  std::set<std::string> names;
  for (const auto& rule : sym().rules()) {
    CHECK_MESSAGE(names.insert(rule->name()).second, "two rules are called ", rule->name());
    PatternMatcher alone(std::vector<std::shared_ptr<const Rule>>{rule});
    int applied = 0;
    bool sound = true;
    for (int attempt = 0; attempt < 4000 && applied < 60 && sound; ++attempt) {
      Pool pool;
      PoolScope scope(pool);
      testing::Instance instance(*rule, random);
      UOp before = instance.build(kinds[random() % std::size(kinds)]);
      if (!before) continue;
      UOp after = alone.rewrite(before, {}, Observer::current());
      if (!after) continue;
      ++applied;
      REQUIRE_MESSAGE(after.dtype() == before.dtype(), rule->name(), ": ", before.str(), " -> ", after.str());
      for (int point = 0; point < 12 && sound; ++point) {
        Binding leaves;
        for (UOp v : instance.variables()) leaves[v] = instance.randomValue(v);
        if (!defined(before, leaves)) continue;
        auto x = evaluate(before, leaves), y = evaluate(after, leaves);
        REQUIRE(x);
        REQUIRE(y);
        if (x->isInvalid()) continue;
        bool nan = x->kind == ConstValue::Kind::Float && x->f != x->f;
        std::string at;
        for (auto& [v, value] : leaves) at += v.render() + "=" + Arg::of(value).repr() + " ";
        sound = nan || sameValue(*x, *y);
        CHECK_MESSAGE(sound, rule->name(), ": ", before.render(), " = ", Arg::of(*x).repr(), " -> ",
                      after.render(), " = ", Arg::of(*y).repr(), " at ", at, before.str());
      }
    }
    CHECK_MESSAGE((applied > 0 || kElsewhere.contains(rule->name())), rule->name(),
                  " was never applied: ", rule->patternText());
  }
}

TEST_CASE("random index expressions keep their values and are simplified once and for all") {
  for (unsigned seed = 0; seed < 1500; ++seed) {
    Pool pool;
    PoolScope scope(pool);
    UOp a = UOp::range(5, 0), b = UOp::range(4, 1), c = UOp::variable("c", -3, 4);
    testing::RandomExpressions make({a, b, c}, seed);
    UOp e = seed % 3 ? make.index(4) : make.condition(4);
    UOp s = simplify(e), again = simplify(s);
    CHECK_MESSAGE(s == again, "seed ", seed, ": ", s.render(), " becomes ", again.render());
    UOp full = graphRewrite(e, sym());
    bool same = true;
    for (int64_t i = 0; i < 5 && same; ++i)
      for (int64_t j = 0; j < 4 && same; ++j)
        for (int64_t k = -3; k <= 4 && same; ++k) {
          Binding leaves{{a, ConstValue::ofInt(i)}, {b, ConstValue::ofInt(j)}, {c, ConstValue::ofInt(k)}};
          auto x = evaluate(e, leaves), y = evaluate(s, leaves), z = evaluate(full, leaves);
          same = x && y && z && sameValue(*x, *y) && sameValue(*x, *z);
          CHECK_MESSAGE(same, "seed ", seed, ": ", e.render(), " -> ", s.render(), " -> ", full.render(),
                        " at ", i, ",", j, ",", k);
          if (same && e.dtype().isInt()) CHECK((s.vmin() <= y->i && y->i <= s.vmax()));
        }
  }
}

TEST_CASE("random gates let through what they did, and what they gate keeps its value there") {
  for (unsigned seed = 0; seed < 1500; ++seed) {
    Pool pool;
    PoolScope scope(pool);
    UOp a = UOp::range(7, 0), b = UOp::range(4, 1), c = UOp::variable("c", -3, 4);
    testing::RandomExpressions make({a, b, c}, seed);
    UOp gate = make.condition(static_cast<int>(seed % 3));
    for (unsigned more = 0; more < 1 + seed % 4; ++more)
      gate = gate & make.condition(static_cast<int>(seed % 4));
    UOp e = make.index(3).validWhere(gate), s = graphRewrite(e, sym());
    for (int64_t i = 0; i < 7; ++i)
      for (int64_t j = 0; j < 4; ++j)
        for (int64_t k = -3; k <= 4; ++k) {
          Binding leaves{{a, ConstValue::ofInt(i)}, {b, ConstValue::ofInt(j)}, {c, ConstValue::ofInt(k)}};
          auto x = evaluate(e, leaves), y = evaluate(s, leaves);
          bool same = x && y && sameValue(*x, *y);
          CHECK_MESSAGE(same, "seed ", seed, ": ", e.render(), " -> ", s.render(), " at ", i, ",", j, ",", k);
          if (!same) return;
        }
  }
}

TEST_CASE("gates of windows laid out in rows say where in its row an element lies") {
  std::mt19937 random(3);
  auto draw = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  for (int round = 0; round < 2000; ++round) {
    Pool pool;
    PoolScope scope(pool);
    // Element i of window k lies near the start of row k, at i - k or so: the gradient of a pooling.
    const int64_t row = draw(3, 12), count = draw(2, 5), wide = draw(2, 12), kept = draw(1, row - 1);
    const int64_t step = row * draw(0, 2) + draw(-3, 3), stride = draw(1, 3), start = draw(0, 2 * row);
    UOp i = UOp::range(wide, 0), k = UOp::range(count, 1, AxisType::Reduce);
    UOp x = i + k * std::abs(step) + start, inside = x % row;
    UOp gate = (inside < kept) & (x < draw(1, count * row)) & (inside % stride < 1);
    UOp index = (x / row * 100 + inside / stride).validWhere(gate), s = graphRewrite(index, sym());
    for (int64_t a = 0; a < wide; ++a)
      for (int64_t b = 0; b < count; ++b) {
        Binding at{{i, ConstValue::ofInt(a)}, {k, ConstValue::ofInt(b)}};
        auto before = evaluate(index, at), after = evaluate(s, at);
        bool same = before && after && sameValue(*before, *after);
        CHECK_MESSAGE(same, index.render(), " -> ", s.render(), " at ", a, ",", b);
        if (!same) return;
      }
  }
  Pool pool;
  PoolScope scope(pool);
  UOp i = UOp::range(58, 0), k = UOp::range(4, 1, AxisType::Reduce), x = i + k * 58;
  UOp gate = (x < 177) & (x % 59 < 56);
  UOp plain = graphRewrite((x / 59 * 100 + x % 59).validWhere(gate), sym());
  CHECK_MESSAGE(!plain.below().intersects(OpSet{Op::IDIV, Op::MOD}), plain.render());
  CHECK_MESSAGE(plain.src(0).render().find("58") == std::string::npos,
                plain.render()); // k < 3, and i - k in [0, 56)
}

TEST_CASE("lowering of index keeps values and leaves no index") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Pool pool;
    PoolScope scope(pool);
    UOp a = UOp::variable("a", 0, 5), b = UOp::variable("b", 0, 1 << 20), c = UOp::variable("c", -3, 4);
    testing::RandomExpressions make({a, b, c}, seed);
    UOp e = make.index(4);
    UOp lowered = graphRewrite(e.cast(dtypes::int64), lowerIndexDtype());
    for (UOp n : lowered.toposort())
      CHECK_MESSAGE(n.dtype().kind() != Scalar::Index, e.render(), lowered.str());
    for (int point = 0; point < 10; ++point) {
      Binding before, after;
      auto set = [&](UOp v, int64_t value) {
        before[v] = ConstValue::ofInt(value);
        for (UOp n : lowered.toposort())
          if (n.is(Op::DEFINE_VAR) && n.arg() == v.arg()) after[n] = ConstValue::ofInt(value);
      };
      set(a, static_cast<int64_t>(make.random()() % 6));
      set(b, static_cast<int64_t>(make.random()() % (1 << 20)));
      set(c, static_cast<int64_t>(make.random()() % 8) - 3);
      auto x = evaluate(e, before), y = evaluate(lowered, after);
      REQUIRE(x);
      REQUIRE(y);
      CHECK_MESSAGE(x->i == y->i, e.render(), " ", lowered.render());
    }
  }
}
