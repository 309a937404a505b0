// A reduction over a symbolic extent equals the loop over an accumulator that it becomes.
#include "engine/codegen/reduce.h"
#include "engine/rewrite/driver.h"
#include "replay/compare/rewrite_check.h"

#include <doctest/doctest.h>

using namespace uopscope;

TEST_CASE("value check: a maximum over a symbolic extent becomes a loop") {
  RewriteChecker checker;
  PoolScope scope(checker.pool());
  const UOp memory = UOp::make(Op::DEFINE_GLOBAL, dtypes::float32.ptr(1024), {}, Arg::of(int64_t{1}));
  const UOp position = UOp::variable("position", 0, 127);
  const UOp r = UOp::range(position + 1, {1}, AxisType::Reduce);
  std::vector<UOp> lanes;
  for (int64_t k = 0; k < 8; ++k) lanes.push_back(r + UOp::index(k * 128));
  const UOp wide = UOp::vectorize(lanes);
  const UOp read = memory.indexed({wide}, dtypes::float32.vec(8));
  const UOp before = read.reduce(Op::MAX, std::vector<UOp>{r});
  Target target;
  ReduceContext context{target};
  static const PatternMatcher rules({reduceRules()});
  const UOp after = rules.rewrite(before, context);
  REQUIRE(after);
  CHECK(after != before);
  const ValueCheck c = checker.check(before, after, {}, nullptr);
  INFO(c.why, " ", c.where, " ", c.before, " ", c.after);
  CHECK(c.verdict == ValueCheck::Verdict::Same);
}
