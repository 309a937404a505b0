// A user's rules run after the schedule pass that they name. A schedule made with them serves only this user.
#include "engine/base/error.h"
#include "engine/rules/user_rules.h"
#include "engine/schedule/schedule_passes.h"
#include "engine/tensor/tensor.h"

#include <doctest/doctest.h>

using namespace uopscope;

namespace {
UOp fourForThree(Match& m) {
  return m.root().isConst(3) ? m.root().constLike(int64_t{4}) : m.decline("it is not 3");
}
constexpr RuleDef kFourForThree[] = {
    RULE("test-four-for-three", pat::any(Op::CONST).withDtype(kMaskFloats), fourForThree)};

float tripled() {
  return Tensor::full({Sint(4)}, ConstValue::ofFloat(2)).contiguous().realize().mul(3).values<float>()[0];
}
std::vector<std::string_view> names() {
  std::vector<std::string_view> out;
  for (const auto& pass : sched::schedulePasses()) out.push_back(pass.name);
  return out;
}
} // namespace

TEST_CASE("rules after a pass of the schedule change what is computed, while they live") {
  CHECK(tripled() == 6);
  for (std::string_view pass : {"earliest rewrites", "apply rangeify", "split kernels"}) {
    CAPTURE(pass);
    UserRules mine(pass, names(), PatternMatcher({kFourForThree}));
    CHECK(tripled() == 8);
  }
  CHECK(tripled() == 6);
}

TEST_CASE("a pass that is none is refused with the names there are") {
  CHECK_THROWS_WITH_AS(UserRules("earliest", names(), PatternMatcher({kFourForThree})),
                       doctest::Contains("no pass is called \"earliest\"; there are: View Input Graph"),
                       Error);
}
