// Finds steps across passes, by the conditions that a person types.
#include "replay/read/step_search.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::test;

TEST_CASE("conditions: what is typed is text, whatever it holds; what cannot be understood is named") {
  CHECK(stepCondition("rule:a'b").find("'a''b'") != std::string::npos);
  CHECK(stepCondition("  ").empty());
  CHECK(stepCondition("-changed:no").starts_with("NOT"));
  CHECK(stepCondition("add-zero") == stepCondition("rule:add-zero"));
  CHECK(stepCondition("op:ADD took>10") == stepCondition("op:add") + " AND step.took_ns > 10");
  CHECK_THROWS_WITH(stepCondition("flavour:sweet"), doctest::Contains("flavour"));
  CHECK_THROWS_WITH(stepCondition("node:1;DROP"), doctest::Contains("is no number"));
}

TEST_CASE("steps are found by number, by rule and by condition, both ways, across passes") {
  TempTrace file;
  recordTo(file.path, [] {
    Pool pool;
    PoolScope scope(pool);
    const UOp r0 = UOp::range(4, 0), r1 = UOp::range(7, 1);
    ObservedScope kernel({ScopeKind::Kernel, "k", {}, {}});
    graphRewrite(UOp::sink(std::vector<UOp>{r0 + 0, r1 * 1}), shrinking(), {.name = "one"});
    graphRewrite(UOp::sink(std::vector<UOp>{r1 + 0}), shrinking(), {.name = "two"});
  });
  Trace trace(file.path);
  const ScopeId kernel = trace.findScope("k");
  const PassId one = trace.findPass(kernel, "one"), two = trace.findPass(kernel, "two");
  const auto all = trace.steps(one);
  REQUIRE(all.size() == 2);
  const auto place = placeOfStep(trace, all[1].id);
  REQUIRE(place);
  CHECK(place->pass == one);
  CHECK(place->step.k == 2);
  CHECK_FALSE(placeOfStep(trace, 999));
  CHECK(lastPass(trace) == two);
  const std::string zero = stepCondition("rule:add-zero");
  CHECK(countSteps(trace, zero) == 2);
  CHECK(countSteps(trace, {}) == 3);
  CHECK(stepsOfPass(trace, two, zero) == std::vector<int64_t>{1});
  const StepId first = nextStep(trace, 0, zero, 1), second = nextStep(trace, first, zero, 1);
  CHECK(first > 0);
  CHECK(placeOfStep(trace, second)->pass == two);
  CHECK(nextStep(trace, second, zero, 1) == 0);
  CHECK(nextStep(trace, second, zero, -1) == first);
  CHECK(nextByRule(trace, placeOfStep(trace, first)->step.rule, first) == second);
  CHECK_THROWS(nextStep(trace, 0, stepCondition("where nonsense = 1"), 1));
}
