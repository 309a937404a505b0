// The reasons of rewrites, as the reader returns them.
#include "replay/read/decisions.h"
#include "replay/read/opening.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// A recording with one decision in the second of two passes.
void recordDecided(const std::string& path, const std::string& reason) {
  recordTo(path, [&] {
    Pool pool;
    PoolScope scope(pool);
    const UOp r0 = UOp::range(4, 0);
    ObservedScope kernel({ScopeKind::Kernel, "k", {}, {}});
    graphRewrite(UOp::sink(std::vector<UOp>{r0 + 0}), shrinking(), {.name = "plain"});
    because([&] { return Decision{reason, 1.5, "cycles", {{"the sum", 3.0}, {"two loops", 1.8}}}; });
    graphRewrite(UOp::sink(std::vector<UOp>{(r0 * 1) + (r0 * 1)}), shrinking(), {.name = "decided"});
  });
}

/// A rule that says why, and rewrites a part of its result by a pass of its own before it returns it.
UOp doubled(Match& m) {
  if (m.root().src(1) != UOp::index(3)) return m.decline("not times 3");
  because([] { return Decision{"a sum is cheaper"}; });
  const UOp x = graphRewrite(m.root().src(0) + 0, shrinking(), {.name = "inner"});
  return x + x + x;
}
constexpr RuleDef kDoubled[] = {RULE("times-three", pat::any(Op::MUL), doubled)};

} // namespace

TEST_CASE("a decision belongs to the step of its rule, not to one of a pass that the rule runs") {
  TempTrace file;
  recordTo(file.path, [&] {
    Pool pool;
    PoolScope scope(pool);
    ObservedScope kernel({ScopeKind::Kernel, "k", {}, {}});
    graphRewrite(UOp::sink(std::vector<UOp>{UOp::range(4, 0) * 3}), PatternMatcher({kDoubled}),
                 {.name = "outer"});
  });
  Trace trace(file.path);
  const ScopeId kernel = trace.findScope("k");
  CHECK(decisionsOf(trace, trace.findPass(kernel, "inner")).empty());
  const Decisions made = decisionsOf(trace, trace.findPass(kernel, "outer"));
  REQUIRE(made.size() == 1);
  CHECK(made.begin()->second[0].reason == "a sum is cheaper");
}

TEST_CASE("decisions are read by pass and by step, with price and alternatives") {
  TempTrace file;
  recordDecided(file.path, "a product is cheaper");
  Trace trace(file.path);
  const ScopeId kernel = trace.findScope("k");
  CHECK(decisionsOf(trace, trace.findPass(kernel, "plain")).empty());
  const Decisions made = decisionsOf(trace, trace.findPass(kernel, "decided"));
  REQUIRE(made.size() == 1);
  const auto& [step, reasons] = *made.begin();
  REQUIRE(reasons.size() == 1);
  CHECK(reasons[0].reason == "a product is cheaper");
  REQUIRE(reasons[0].others.size() == 2);
  CHECK(reasons[0].others[1].what == "two loops");
  CHECK(decisionsAt(trace, step).size() == 1);
  CHECK(decisionsAt(trace, step + 1).empty());
  CHECK(priceText(reasons[0].price, reasons[0].unit) == "1.5 cycles");
  CHECK(dearer(reasons[0], reasons[0].others[0]) == "2.0 times");
  CHECK(dearer(reasons[0], reasons[0].others[1]) == "20 % more");
  CHECK(dearer({.reason = "no price"}, {"other", 2}).empty());
}

TEST_CASE("decisions of a hostile file: alternatives that are none are left out, escapes are shown") {
  for (const char* others :
       {"not json", "{}", "[1, null, \"x\"]", "[{\"what\": 3, \"price\": 4}]", "[{\"price\": 4}]"}) {
    TempTrace file;
    recordDecided(file.path, "why \x1b]0;owned");
    {
      Database db = Database::openForWriting(file.path);
      db.prepare("UPDATE decision SET others = ?, price = 9e999").bind(1, std::string_view(others)).run();
    }
    Trace trace(file.path);
    const Decisions made = decisionsOf(trace, trace.findPass(trace.findScope("k"), "decided"));
    REQUIRE(made.size() == 1);
    const Decision& d = made.begin()->second[0];
    CHECK(d.others.empty());
    CHECK_FALSE(d.price);
    CHECK(d.reason.find('\x1b') == std::string::npos);
  }
}

TEST_CASE(
    "a trace is entered at a decision with alternatives; without any, at a small rewrite with an effect") {
  TempTrace file;
  recordDecided(file.path, "a product is cheaper");
  Trace trace(file.path);
  REQUIRE(fullestScope(trace) == trace.findScope("k"));
  CHECK(openingOf(trace, trace.findScope("k"))->pass == trace.findPass(trace.findScope("k"), "decided"));
  TempTrace other;
  recordTo(other.path, [] {
    Pool pool;
    PoolScope scope(pool);
    const UOp r0 = UOp::range(4, 0);
    ObservedScope kernel({ScopeKind::Kernel, "k", {}, {}});
    graphRewrite(UOp::sink(std::vector<UOp>{(r0 + 2) + 3, r0 + r0}), shrinking(), {.name = "plain"});
  });
  Trace plain(other.path);
  const auto at = openingOf(plain, fullestScope(plain));
  REQUIRE(at);
  CHECK(plain.rule(at->step.rule).name == "twice"); // ADD becomes MUL; sums of constants stay sums
  TempTrace empty;
  recordTo(empty.path, [] {});
  CHECK(fullestScope(Trace(empty.path)) == 0);
}
