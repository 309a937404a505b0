// Guards and reasons: a rule that declines gives a reason, each pass counts reasons, and explain() returns
// them.
#include "engine/base/error.h"
#include "engine/rewrite/driver.h"
#include "tests/engine/rewrite/pattern_variables.h"

#include <doctest/doctest.h>

#include <map>

using namespace uopscope;
using namespace uopscope::test;

namespace {

UOp onlyEven(Match& m) {
  return m[c0].arg().i() % 2 ? m.decline("the constant is odd") : m[x];
}

// One rule for each kind of guard, and one whose function declines.
constexpr RuleDef kGuarded[] = {
    RULE("test-not-const", pat::op(Op::MAX, c0, x), pat::max(x, c0), guard::notConst(x)),
    RULE("test-divides", (x * c1) / c0, x, guard::divides(c0, c1)),
    RULE("test-not-negative", pat::op(Op::XOR, x, y), x, guard::notNegative(x), guard::different(x, y)),
    RULE("test-at-most", pat::op(Op::OR, x, y), y, guard::atMost(x, 7), guard::isConst(y)),
    RULE("test-signed", pat::op(Op::SHL, x, c0), x, guard::isSigned(x), guard::notZero(c0)),
    RULE("test-positive", pat::op(Op::SHR, x, c0), x, guard::positive(c0)),
    RULE("test-like-root", pat::op(Op::CAST, x), pat::toRoot(x), guard::unlikeRoot(x), guard::notPointer(x),
         guard::notInvalid(x)),
    RULE("test-function", pat::op(Op::MOD, x, c0), onlyEven),
    RULE("test-same-op", pat::op(OpSet{Op::SUB}, x, x), pat::sameOp(x, 0)),
};

struct Reasons : Observer {
  bool wantsCounts() const override { return true; }
  void onDeclines(std::span<const DeclineCount> declines) override {
    for (const DeclineCount& d : declines) all[d.rule->name() + ": " + d.why] += d.count;
  }
  std::map<std::string, uint64_t> all;
};

struct GuardFixture {
  Pool pool;
  PoolScope scope{pool};
  PatternMatcher rules{{kGuarded}};
  UOp a = UOp::variable("a", 0, 100, dtypes::int32), b = UOp::variable("b", -5, 5, dtypes::int32);
  UOp two = UOp::constant(dtypes::int32, int64_t{2}), six = UOp::constant(dtypes::int32, int64_t{6}),
      zero = UOp::constant(dtypes::int32, int64_t{0});
  UOp word = UOp::variable("w", 0, 9, dtypes::uint32);
  UOp apply(UOp u) { return rules.rewrite(u); }
  /// The rule's reason for leaving the node alone.
  std::string why(std::string_view rule, UOp u) {
    for (const auto& r : rules.rules())
      if (r->name() == rule) return rules.explain(*r, u);
    return "no such rule";
  }
};

} // namespace

TEST_CASE_FIXTURE(GuardFixture, "a guard that holds lets its rule apply") {
  CHECK(apply(two.alu(Op::MAX, {a})) == a.maximum(two));
  CHECK(apply((a * six) / two) == a);
  CHECK(apply(a ^ b) == a);
  CHECK(apply(b | two) == two);
  CHECK(apply(a.alu(Op::SHL, {two})) == a);
  CHECK(apply(a.alu(Op::SHR, {two})) == a);
  CHECK(apply(UOp::make(Op::MOD, dtypes::int32, {a, two})) == a);
  CHECK(apply(UOp::make(Op::SUB, dtypes::int32, {a, a})) == a.alu(Op::SUB, {zero}));
}

TEST_CASE_FIXTURE(GuardFixture, "a guard that fails gives its reason") {
  CHECK(why("test-not-const", two.alu(Op::MAX, {six})) == "x is a constant");
  CHECK(why("test-divides", (a * two) / six) == "c0 does not divide the other constant");
  CHECK(why("test-not-negative", b ^ a) == "x may be negative");
  CHECK(why("test-not-negative", a ^ a) == "x and the other node are one");
  CHECK(why("test-at-most", a | two) == "x may be too large");
  CHECK(why("test-at-most", b | b) == "y is no constant");
  CHECK(why("test-signed", word.alu(Op::SHL, {UOp::constant(dtypes::uint32, int64_t{1})})) ==
        "x is unsigned");
  CHECK(why("test-signed", a.alu(Op::SHL, {zero})) == "c0 is 0 or no integer constant");
  CHECK(why("test-positive", a.alu(Op::SHR, {zero})) == "c0 is no positive integer constant");
  CHECK(why("test-like-root", UOp::make(Op::CAST, dtypes::int32, {a})) ==
        "x has the dtype of the result already");
  CHECK(why("test-function",
            UOp::make(Op::MOD, dtypes::int32, {a, UOp::constant(dtypes::int32, int64_t{3})})) ==
        "the constant is odd");
  CHECK(why("test-function", a + b).find("the node is ADD") == 0);
  CHECK(why("test-same-op", UOp::make(Op::SUB, dtypes::int32, {a, zero})).find("not the node bound to x") !=
        std::string::npos);
}

TEST_CASE_FIXTURE(GuardFixture, "reasons are counted by rule while a pass runs") {
  Reasons reasons;
  ObserverScope watch(&reasons);
  UOp three = UOp::constant(dtypes::int32, int64_t{3}), five = UOp::constant(dtypes::int32, int64_t{5});
  UOp odd = UOp::make(Op::MOD, dtypes::int32, {a, three}),
      odder = UOp::make(Op::MOD, dtypes::int32, {a, five});
  graphRewrite(UOp::sink(std::vector<UOp>{odd, odder, b ^ a}), rules, {.name = "counted"});
  CHECK(reasons.all == std::map<std::string, uint64_t>{{"test-function: the constant is odd", 2},
                                                       {"test-not-negative: x may be negative", 1}});
}

TEST_CASE_FIXTURE(GuardFixture, "a source that a node does not have is an error, not memory beyond it") {
  CHECK_THROWS_WITH_AS((a + b).src(2), doctest::Contains("has 2 sources: there is no source 2"), Error);
  CHECK_THROWS_AS(two.src(0), Error);
}
