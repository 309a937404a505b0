// Quotients that a gate makes whole, and reads whose value only counts where a condition holds.
#include "engine/rewrite/driver.h"
#include "engine/rules/algebra.h"
#include "engine/rules/gate_bounds.h"
#include "engine/rules/rules.h"

#include <doctest/doctest.h>

#include <random>

using namespace uopscope;
using namespace uopscope::rules;

TEST_CASE("under a gate that leaves no remainder a sum needs no division") {
  Pool pool;
  PoolScope scope(pool);
  const UOp i = UOp::range(8, 0), k = UOp::range(4, 1);
  const UOp even = (i + k) % 2 < 1;
  const UOp sum = (i + k * -1 + 4) / 2 * 6 + k * 3;
  REQUIRE(withoutRemainders(even, sum));
  CHECK(withoutRemainders(even, sum).render() == "r0*3+12");
  CHECK_FALSE(withoutRemainders(even, (i + k * -1 + 3) / 2 * 6 + k * 3)); // odd there
  CHECK_FALSE(withoutRemainders(even, (i + k * -1 + 4) / 2 * 5));         // 5 is no multiple of 2
  CHECK_FALSE(withoutRemainders((i + k) % 3 < 1, sum));
  CHECK(withoutRemainders((i + k) % 4 < 1, sum)); // a multiple of 4 is one of 2
}

TEST_CASE("random sums keep their values where their gate holds") {
  Pool pool;
  PoolScope scope(pool);
  std::mt19937 random(5);
  const auto from = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  int found = 0;
  for (int round = 0; round < 4000; ++round) {
    const UOp i = UOp::range(9, 0), k = UOp::range(7, 1);
    const int64_t by = from(2, 5), times = from(1, 2), part = by * from(1, 3) / from(1, 2);
    const UOp gate = (i * from(1, 3) + k * from(1, 3) + from(0, 4)) % (by * times) < 1;
    const UOp sum = (i * from(-3, 3) + k * from(-3, 3) + from(0, 40)) / by * part + i * from(-4, 4);
    const UOp without = withoutRemainders(gate, sum);
    if (!without) continue;
    ++found;
    CAPTURE(gate.render());
    CAPTURE(sum.render());
    CAPTURE(without.render());
    for (int64_t a = 0; a <= i.vmax(); ++a)
      for (int64_t b = 0; b <= k.vmax(); ++b) {
        const Binding at{{i, ConstValue::ofInt(a)}, {k, ConstValue::ofInt(b)}};
        if (evaluate(gate, at)->i) CHECK(evaluate(without, at)->i == evaluate(sum, at)->i);
      }
  }
  CHECK(found > 50);
}

TEST_CASE("reads below a choice take addresses without division, and stay inside of their buffer") {
  Pool pool;
  PoolScope scope(pool);
  const UOp i = UOp::range(8, 0), k = UOp::range(3, 1);
  const UOp chosen = ((i + k) % 2 < 1) & (i + k * -1 < 6);
  const UOp at = (i + k * -1 + 2) / 2 * 2 + k;
  const auto addressOf = [&](int64_t size, UOp address) {
    const UOp buffer = UOp::make(Op::DEFINE_GLOBAL, dtypes::float32.ptr(size), {}, Arg::of(int64_t{0}));
    const UOp choice = chosen.where(buffer.indexed({address}) * 2.0, UOp::constant(dtypes::float32, 0.0));
    for (UOp u : graphRewrite(choice, sym()).toposort())
      if (u.is(Op::INDEX)) return u.src(1).render();
    return std::string();
  };
  // From 2 to 9: a clause that the choice repeats is no longer needed for the read.
  CHECK(addressOf(16, at.validWhere(i + k * -1 < 6)) == "r0+2");
  // Where the choice is not taken, the new address may lie outside of a shorter buffer.
  CHECK(addressOf(9, at.validWhere(i + k * -1 < 6)).find("Invalid") != std::string::npos);
}
