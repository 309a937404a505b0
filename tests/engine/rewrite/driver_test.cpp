// graph_rewrite: patterns of every form, order of application, fixed points, limits, observers, counts.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/rewrite/counters.h"
#include "engine/rewrite/driver.h"
#include "tests/engine/rewrite/pattern_variables.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::test;

namespace {

constexpr PatVar z{"z"};

UOp doubleIfSmall(Match& m) {
  return m[c0].constValue().i < m.ctx<int>() ? m[x] * (m[c0].constValue().i * 2) : UOp();
}

constexpr RuleDef kRules[] = {
    RULE("test-add-zero", x + 0, x),
    RULE("test-add-self", x + x, x * 2),
    RULE("test-add-const", (x + c0) + c1, x + pat::fold(c0 + c1)),
    RULE("test-where-same", pat::where(y, x, x), x),
};
constexpr RuleDef kGrow[] = {RULE("test-grow", x + y, (x + y) + 1)};
constexpr RuleDef kPing[] = {RULE("test-ping", x * 2, x * 3), RULE("test-pong", x * 3, x * 2)};
constexpr RuleDef kDoubleIfSmall[] = {RULE("test-double", x* c0, doubleIfSmall)};

struct Events : Observer {
  std::vector<std::string> log;
  Control answer = Control::Apply;
  bool counting = false;
  bool wantsCounts() const override { return counting; }
  Control onRewrite(const RewriteEvent& e) override {
    log.push_back(e.rule->name() + (e.bottomUp ? " down" : " up"));
    return answer;
  }
  void onPassBegin(const PassBegin& b) override { log.push_back("begin " + std::string(b.name)); }
  void onPassEnd(const PassEnd& e) override {
    log.push_back(e.outcome == PassOutcome::Done ? "end" : "failed");
  }
  void onRuleError(const Rule& r, UOp u, std::string_view) override {
    log.push_back("error " + r.name() + " at " + std::string(opName(u.op())));
  }
  void onCounts(const PassCounts& counts) override { all = counts.all(); }
  std::vector<MatchCount> all;
};

struct DriverFixture {
  Pool pool;
  PoolScope scope{pool};
  UOp a = UOp::variable("a", 0, 100), b = UOp::variable("b", 0, 100);
  PatternMatcher rules{{kRules}};
};

} // namespace

TEST_CASE_FIXTURE(DriverFixture, "rules apply until nothing changes, operands in either order") {
  CHECK(graphRewrite(UOp::index(0) + a, rules) == a);
  CHECK(graphRewrite((a + 1 + 2) + 3, rules) == a + 6);
  CHECK(graphRewrite((a + 0) + (UOp::index(0) + a), rules) == a * 2);
  CHECK(graphRewrite((a < b).where(a + 0, a), rules) == a);
  CHECK(graphRewrite(a + b, rules) == a + b);
}

TEST_CASE_FIXTURE(DriverFixture, "bottom-up rules see a node before its sources are rewritten") {
  Events events;
  ObserverScope watch(&events);
  CHECK(graphRewriteBottomUp((a + 0) + (a + 0), rules, {.name = "down"}) == a * 2);
  CHECK(events.log ==
        std::vector<std::string>{"begin down", "test-add-self down", "test-add-zero down", "end"});
}

TEST_CASE_FIXTURE(DriverFixture, "observer: order of events, skipping, counts") {
  Events events;
  events.counting = true;
  {
    ObserverScope watch(&events);
    graphRewrite((a + 0) + (a + 0), rules, {.name = "simplify"});
  }
  CHECK(events.log ==
        std::vector<std::string>{"begin simplify", "test-add-zero up", "test-add-self up", "end"});
  uint64_t applied = 0;
  for (const auto& c : events.all) applied += c.count[static_cast<size_t>(Outcome::Applied)];
  CHECK(applied == 2);

  Events skipping;
  skipping.answer = Control::Skip;
  ObserverScope watch(&skipping);
  CHECK(graphRewrite(a + 0, rules) == a + 0);
}

TEST_CASE_FIXTURE(DriverFixture, "context reaches functions and is checked for its type") {
  PatternMatcher m({kDoubleIfSmall});
  int limit = 10;
  CHECK(graphRewrite(a * 3, m, {.ctx = limit}) == a * 12);
  double wrong = 1;
  CHECK_THROWS_WITH_AS(graphRewrite(a * 3, m, {.ctx = wrong}), doctest::Contains("context of type int"),
                       Error);
}

TEST_CASE_FIXTURE(DriverFixture, "what does not end is an error that names the rule") {
  PatternMatcher grow({kGrow}), ping({kPing});
  CHECK_THROWS_WITH_AS(graphRewrite(a + b, grow, {.name = "growing"}), doctest::Contains("test-grow"), Error);
  CHECK_THROWS_WITH_AS(graphRewrite(a * 2, ping), doctest::Contains("infinite loop in graph_rewrite"), Error);
  CHECK_THROWS_WITH_AS(graphRewriteBottomUp(a * 2, ping), doctest::Contains("infinite loop in graph_rewrite"),
                       Error);
}

TEST_CASE_FIXTURE(DriverFixture, "a rule that throws is reported with the node, and the pass has failed") {
  std::vector<PatNode> pattern(1);
  pattern[0].ops = Op::MUL;
  pattern[0].var = 0;
  PatternMatcher m({std::make_shared<const Rule>(
      "test-throws", "rules.py", 7, "boom", pattern, std::vector<std::string>{"x"},
      [](Match&) -> UOp { throw Error(ErrorKind::Value, "boom"); })});
  Events events;
  ObserverScope watch(&events);
  CHECK_THROWS_WITH(graphRewrite(a * b + 1, m, {.name = "p"}), "boom");
  CHECK(events.log == std::vector<std::string>{"begin p", "error test-throws at MUL", "failed"});
}

TEST_CASE_FIXTURE(DriverFixture, "old to new map covers every node that was visited") {
  UOpMap<UOp> map;
  UOp root = (a + 0) * b;
  UOp result = graphRewrite(root, rules, {.map = &map});
  CHECK(map.at(a + 0) == a);
  CHECK(map.at(root) == result);
  CHECK(map.at(b) == b);
}

TEST_CASE_FIXTURE(DriverFixture, "patterns made at run time: repeat, prefix, alternatives, argument, dtype") {
  auto matches = [&](std::vector<PatNode> nodes, UOp u) {
    PatternMatcher m({std::make_shared<const Rule>(
        "t", "f", 1, "", std::move(nodes), std::vector<std::string>{}, [this](Match&) { return a; })});
    return static_cast<bool>(m.rewrite(u));
  };
  auto node = [](OpSet ops, SrcMode mode = SrcMode::Any, std::initializer_list<uint8_t> children = {}) {
    PatNode n;
    n.ops = ops;
    n.mode = mode;
    for (uint8_t c : children) n.children[n.childCount++] = c;
    return n;
  };
  UOp sink = UOp::sink(std::vector<UOp>{a + b, b + a});
  CHECK(matches({node(Op::ADD), node(Op::SINK, SrcMode::Repeat, {0})}, sink));
  CHECK_FALSE(matches({node(Op::MUL), node(Op::SINK, SrcMode::Repeat, {0})}, sink));
  CHECK(matches({node(Op::ADD), node(Op::SINK, SrcMode::Prefix, {0})}, sink));
  CHECK_FALSE(matches({node(Op::ADD), node(Op::SINK, SrcMode::Exact, {0})}, sink));
  auto either = node(OpSet(), SrcMode::Any, {0, 1});
  either.oneOf = true;
  CHECK(matches({node(Op::ADD), node(Op::MUL), either}, a * b));
  CHECK(matches({node(Op::ADD), node(Op::MUL), either}, a + b));
  CHECK_FALSE(matches({node(Op::ADD), node(Op::MUL), either}, a % b));
  auto typed = node(Op::ADD);
  typed.dtypes = kMaskFloats;
  CHECK_FALSE(matches({typed}, a + b));
  typed.dtypes = kMaskIndex;
  CHECK(matches({typed}, a + b));
}

TEST_CASE_FIXTURE(DriverFixture, "explain names the first test that fails") {
  CHECK(rules.explain(*rules.rules()[0], a * b).find("the node is MUL") == 0);
  CHECK(rules.explain(*rules.rules()[0], a + b).find("wants CONST") != std::string::npos);
  CHECK(rules.explain(*rules.rules()[1], a + b).find("not the node bound to x") != std::string::npos);
  CHECK(rules.explain(*rules.rules()[0], a + 0).empty());
  CHECK(rules.rules()[2]->patternText() == "((x + c0=const) + c1=const)");
}

TEST_CASE_FIXTURE(DriverFixture, "deep graphs do not need a deep stack") {
  UOp chain = a;
  for (int i = 0; i < 100000; ++i) chain = chain * b + 0;
  UOp done = graphRewrite(chain, rules);
  CHECK(done.toposort().size() == 100002);
}
