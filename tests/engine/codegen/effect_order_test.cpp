// The order of stores by liveness: what is moved, what may not be, and what the reordered kernel stores.
#include "engine/codegen/effect_order.h"
#include "engine/codegen/live_ranges.h"
#include "engine/rewrite/driver.h"
#include "tests/engine/codegen/kernels.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace uopscope;
using namespace uopscope::testing;

namespace {

constexpr const char* kPass = "order by liveness";
const DType kWide = dtypes::float32.vec(16);

UOp at(UOp buffer, int64_t place) {
  UOp index = UOp::make(Op::INDEX, buffer.dtype(), {buffer, UOp::constant(dtypes::int32, place)});
  return UOp::make(Op::CAST, kWide.ptr(buffer.dtype().size()), {index});
}
UOp load(UOp buffer, int64_t place) {
  return UOp::make(Op::LOAD, kWide, {at(buffer, place)});
}
UOp store(UOp buffer, int64_t place, UOp value) {
  return UOp::make(Op::STORE, dtypes::void_, {at(buffer, place), value});
}

/// Two results of each of 32 vectors, all of the first before all of the second, as two outputs of a tile are.
std::vector<UOp> pairsOfStores(int64_t distance) {
  std::vector<UOp> first, second;
  UOp in = memory(2, 512), a = memory(0, 512), b = memory(1, 512);
  for (int64_t i = 0; i < 32; ++i) {
    UOp x = load(in, i * distance), square = x * x;
    first.push_back(store(a, i * distance, square + x));
    second.push_back(store(b, i * distance, square * square));
  }
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Target wideTarget() {
  Target t = plainTarget(16);
  t.maxVectorLanes = 16;
  return t;
}

struct RulesAndDecisions : Observer {
  Control onRewrite(const RewriteEvent& e) override {
    rules.emplace_back(e.rule->name());
    return Control::Apply;
  }
  void onDecision(const Decision& d) override { decisions.push_back(d); }
  std::vector<std::string> rules;
  std::vector<Decision> decisions;
};

} // namespace

TEST_CASE(
    "order by liveness: stores that share a value come one after another, with the price as the reason") {
  Pool pool;
  PoolScope scope(pool);
  const std::vector<UOp> stores = pairsOfStores(16);
  const UOp sink = kernel({UOp::groupOf(stores)});
  const RegisterFile file = registerFileOf(wideTarget());
  CHECK(liveRanges(linearize(sink), file).vectors.registers >= 32);
  RulesAndDecisions steps;
  const PatternMatcher rules({effectOrderRules()});
  UOp ordered;
  {
    ObserverScope watch(&steps);
    ordered = orderEffects(sink, wideTarget(), rules, kPass);
  }
  CHECK(liveRanges(linearize(ordered), file).vectors.registers <= 3);
  CHECK(steps.rules == std::vector<std::string>{"order-stores-by-liveness"});
  REQUIRE(steps.decisions.size() == 1);
  REQUIRE(steps.decisions[0].price);
  REQUIRE(steps.decisions[0].others.size() == 1);
  CHECK(*steps.decisions[0].price < steps.decisions[0].others[0].price);

  // The same stores, each followed by its partner.
  std::vector<UOp> program = linearize(ordered), order;
  std::ranges::copy_if(program, std::back_inserter(order), [](UOp u) { return u.is(Op::STORE); });
  REQUIRE(order.size() == stores.size());
  for (size_t i = 0; i < 32; ++i) {
    CHECK(order[2 * i] == stores[i]);
    CHECK(order[2 * i + 1] == stores[32 + i]);
  }
}

TEST_CASE("order by liveness: stores that may meet, that are guarded, or that fit as they are, stay") {
  Pool pool;
  PoolScope scope(pool);
  const PatternMatcher rules({effectOrderRules()});
  auto isMoved = [&](UOp sink) { return orderEffects(sink, wideTarget(), rules, kPass) != sink; };
  CHECK(isMoved(kernel({UOp::groupOf(pairsOfStores(16))})));
  CHECK_FALSE(isMoved(kernel({UOp::groupOf(pairsOfStores(8))}))); // each overlaps the next one

  std::vector<UOp> elsewhere = pairsOfStores(16);
  UOp variable = UOp::variable("n", 0, 100, dtypes::int32), a = memory(0, 512);
  UOp unknown = UOp::make(Op::INDEX, a.dtype(), {a, variable});
  elsewhere.push_back(UOp::make(Op::STORE, dtypes::void_,
                                {UOp::make(Op::CAST, kWide.ptr(512), {unknown}), load(memory(2, 512), 0)}));
  CHECK_FALSE(isMoved(kernel({UOp::groupOf(elsewhere)})));

  std::vector<UOp> guarded = pairsOfStores(16);
  UOp gate = variable.alu(Op::CMPLT, {UOp::constant(dtypes::int32, int64_t{7})});
  UOp gated = UOp::make(Op::INDEX, a.dtype(), {a, UOp::constant(dtypes::int32, int64_t{0}), gate});
  guarded[0] = UOp::make(Op::STORE, dtypes::void_,
                         {UOp::make(Op::CAST, kWide.ptr(512), {gated}), load(memory(2, 512), 0)});
  CHECK_FALSE(isMoved(kernel({UOp::groupOf(guarded)})));

  std::vector<UOp> few = pairsOfStores(16);
  few.resize(8);
  CHECK_FALSE(isMoved(kernel({UOp::groupOf(few)})));
}
