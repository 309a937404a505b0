// Two traces tell the same story, or the comparison names the first place of divergence.
#include "replay/read/trace_comparison.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::test;

namespace {
void compile(const std::string& path, bool differently, const char* source = "void k() {}") {
  static constexpr RuleDef kOther[] = {
      RULE("any-add", x + y, [](Match& m) { return m[x].alu(Op::XOR, {m[y]}); })};
  static const PatternMatcher other({kOther});
  recordTo(path, [&] {
    for (uint32_t seed = 1; seed <= 3; ++seed) {
      Pool pool;
      PoolScope scope(pool);
      UOp root = randomGraph(seed, 80);
      ObservedScope kernel({ScopeKind::Kernel, "kernel " + std::to_string(seed), {"model.py", 3}, root});
      graphRewriteBottomUp(root, lowering(), {.name = "lower"});
      graphRewrite(root, differently && seed == 2 ? other : shrinking(), {.name = "simplify"});
      Observer::current()->onArtifact({"source", seed == 3 ? source : "void k() {}"});
      Observer::current()->poolRetired(pool);
    }
  });
}
} // namespace

TEST_CASE("two recordings of one thing tell the same story") {
  TempTrace a, b;
  compile(a.path, false);
  compile(b.path, false);
  Trace first(a.path), second(b.path);
  TraceComparison c = compareTraces(first, second);
  CHECK(c.same);
  CHECK(c.commonSteps == c.steps);
  CHECK(c.steps > 20);
  CHECK(c.kernels.empty());
  CHECK(c.circumstances.empty());
}

TEST_CASE("the first step that differs is named") {
  TempTrace a, b;
  compile(a.path, false);
  compile(b.path, true);
  Trace first(a.path), second(b.path);
  TraceComparison c = compareTraces(first, second);
  CHECK_FALSE(c.same);
  CHECK(c.parting.kind == TraceParting::Kind::Step);
  CHECK(c.parting.scope == 2);
  CHECK(c.parting.otherScope == 2);
  CHECK(c.parting.what.find("pass \"simplify\" in kernel 2") != std::string::npos);
  CHECK(c.parting.first != c.parting.second);
  CHECK(c.commonSteps > 0);
  CHECK(c.commonSteps < std::min(c.steps, c.otherSteps));
  // In the opposite direction the place is the same.
  TraceComparison back = compareTraces(second, first);
  CHECK(back.parting.what == c.parting.what);
  CHECK(back.parting.first == c.parting.second);
  CHECK(back.commonSteps == c.commonSteps);
}

TEST_CASE("a kernel with another source differs, though its steps do not") {
  TempTrace a, b;
  compile(a.path, false);
  compile(b.path, false, "void k() { return; }");
  Trace first(a.path), second(b.path);
  TraceComparison c = compareTraces(first, second);
  CHECK_FALSE(c.same);
  CHECK(c.parting.kind == TraceParting::Kind::Text);
  REQUIRE(c.kernels.size() == 1);
  CHECK(c.kernels[0].name == "kernel 3");
  CHECK(c.parting.second == "void k() { return; }");
}
