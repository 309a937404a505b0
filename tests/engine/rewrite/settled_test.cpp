// A rewrite skips the parts of a graph that its rules cannot change, and only those; its counts agree.
#include "engine/rewrite/counters.h"
#include "engine/rewrite/driver.h"
#include "tests/engine/rewrite/pattern_variables.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::test;

namespace {

UOp doubleBelow(Match& m) {
  return m[c0].constValue().i < m.ctx<int>() ? m[x] * (m[c0].constValue().i * 2) : UOp();
}
UOp gateMul(Match&) {
  return gateHere();
}

constexpr RuleDef kSums[] = {
    RULE("settled-add-zero", x + 0, x),
    RULE("settled-add-self", x + x, x * 2),
    RULE("settled-add-const", (x + c0) + c1, x + pat::fold(c0 + c1)),
};
constexpr RuleDef kDoubleBelow[] = {RULE("settled-double", x* c0, doubleBelow)};
constexpr RuleDef kProducts[] = {RULE("settled-mul-one", x * 1, x)};
constexpr RuleDef kGate[] = {RULE("settled-gate", x* y, gateMul), RULE("settled-after-gate", x* c0, x)};

struct Attempts : Observer {
  Control answer = Control::Apply;
  std::vector<MatchCount> all;
  bool wantsCounts() const override { return true; }
  Control onRewrite(const RewriteEvent&) override { return answer; }
  void onCounts(const PassCounts& counts) override { all = counts.all(); }

  uint64_t of(std::string_view rule, Outcome outcome) const {
    uint64_t n = 0;
    for (const MatchCount& c : all)
      if (c.rule->name() == rule) n += c.count[static_cast<size_t>(outcome)];
    return n;
  }
  uint64_t total() const {
    uint64_t n = 0;
    for (const MatchCount& c : all)
      for (uint64_t k : c.count) n += k;
    return n;
  }
};

Attempts attemptsOf(UOp root, const PatternMatcher& rules, Control answer = Control::Apply) {
  Attempts attempts;
  attempts.answer = answer;
  ObserverScope watch(&attempts);
  graphRewrite(root, rules);
  return attempts;
}

struct SettledFixture {
  Pool pool;
  PoolScope scope{pool};
  UOp a = UOp::variable("a", 0, 100), b = UOp::variable("b", 0, 100);
  PatternMatcher sums{{kSums}};
};

} // namespace

TEST_CASE_FIXTURE(SettledFixture, "what rules left alone is not tried again, what is new is") {
  UOp root = (a + b) * (b + 1);
  CHECK(attemptsOf(root, sums).total() == 6); // three rules on each of two sums
  CHECK(attemptsOf(root, sums).total() == 0);
  CHECK(attemptsOf(root + 7, sums).total() == 3);                // only the new sum
  CHECK(attemptsOf(root, PatternMatcher({kSums})).total() == 0); // the same list of rules, compiled again
  PatternMatcher more = sums + PatternMatcher({kProducts});
  CHECK(attemptsOf(root, more).total() == 7); // a different list is tried as a whole
  CHECK(graphRewrite(root + 0, sums) == root);
}

TEST_CASE_FIXTURE(SettledFixture, "a graph without operations the rules ask for is not walked") {
  CHECK(attemptsOf(a * b, sums).total() == 0);
  CHECK(graphRewrite(a * b, sums) == a * b);
  CHECK((a * b).below().has(Op::DEFINE_VAR));
  CHECK_FALSE((a * b).below().has(Op::ADD));
  CHECK((a * b + 1).below().contains(OpSet{Op::ADD, Op::MUL, Op::CONST, Op::DEFINE_VAR}));
}

TEST_CASE_FIXTURE(SettledFixture, "a forbidden rewrite leaves nothing settled") {
  UOp root = (a + 0) * b;
  Attempts forbidding = attemptsOf(root, sums, Control::Skip);
  CHECK(forbidding.of("settled-add-zero", Outcome::Declined) == 1);
  CHECK(graphRewrite(root, sums) == a * b);
}

TEST_CASE_FIXTURE(SettledFixture, "rules with a context, and rules made at run time, are tried every time") {
  PatternMatcher doubling({kDoubleBelow});
  int limit = 1;
  CHECK(graphRewrite(a * 3, doubling, {.ctx = limit}) == a * 3);
  limit = 5;
  CHECK(graphRewrite(a * 3, doubling, {.ctx = limit}) == a * 6);

  bool willing = false;
  std::vector<PatNode> pattern(1);
  pattern[0].ops = Op::ADD;
  PatternMatcher moody(
      {std::make_shared<const Rule>("settled-moody", "rules.py", 1, "", pattern, std::vector<std::string>{},
                                    [&](Match&) { return willing ? a : UOp(); })});
  CHECK(moody.identity() == 0);
  CHECK(graphRewrite(a + b, moody) == a + b);
  willing = true;
  CHECK(graphRewrite(a + b, moody) == a);
}

TEST_CASE_FIXTURE(SettledFixture, "every attempt is counted under what became of it") {
  Attempts plain = attemptsOf(a + b, sums); // no CONST and no ADD below: two rejected early, one by structure
  CHECK(plain.of("settled-add-zero", Outcome::RejectedEarly) == 1);
  CHECK(plain.of("settled-add-self", Outcome::StructureDiffers) == 1);
  CHECK(plain.of("settled-add-const", Outcome::RejectedEarly) == 1);

  // The first rule fires on one of two sums, so the other rules were reached once less.
  Attempts fired = attemptsOf((a * b + 0) * (b + 5), sums);
  CHECK(fired.of("settled-add-zero", Outcome::Applied) == 1);
  CHECK(fired.of("settled-add-zero", Outcome::StructureDiffers) == 1);
  CHECK(fired.total() == 1 + 3);

  Attempts gated;
  {
    ObserverScope watch(&gated);
    graphRewriteBottomUp(a * 4 + b, PatternMatcher({kGate}));
  }
  CHECK(gated.total() == 0); // a gate is no outcome, and the rule after it was not reached
}

TEST_CASE("a pool tells 64 sets of rules apart and then none") {
  Pool pool;
  CHECK(pool.settledBit(7) == 1);
  CHECK(pool.settledBit(8) == 2);
  CHECK(pool.settledBit(7) == 1);
  for (uint64_t set = 100; set < 162; ++set) CHECK(pool.settledBit(set) != 0);
  CHECK(pool.settledBit(999) == 0);
  CHECK(pool.settledBit(8) == 2);
}
