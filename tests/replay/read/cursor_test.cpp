// The graph between two steps must equal the engine's own. The last graph is compared with the result of the
// pass; the graphs in between with the nodes that rules saw: every step's `before` is in the graph of the
// step before it.
#include "replay/read/cursor.h"
#include "replay/read/materialize.h"
#include "replay/read/print.h"
#include "replay/read/provenance.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// Runs all kinds of passes over random graphs; returns their last roots, as text.
std::vector<std::string> compile(uint32_t seed, int size) {
  Pool pool;
  PoolScope scope(pool);
  ObservedScope kernel({ScopeKind::Kernel, "k" + std::to_string(seed), {"model.py", 3}, {}});
  std::vector<std::string> ends;
  UOp root = randomGraph(seed, size);
  PatternMatcher both = shrinking() + nesting();
  auto keep = [&](UOp u) {
    ends.push_back(std::to_string(u.key().first) + ":" + std::to_string(u.key().second));
    return u;
  };
  keep(graphRewrite(root, shrinking(), {.name = "up"}));
  keep(graphRewriteBottomUp(root, lowering(), {.name = "down"}));
  keep(graphRewrite(root, shrinking(), {.name = "both", .bottomUp = &lowering()}));
  keep(graphRewrite(root, both, {.name = "nested"}));
  keep(graphRewrite(root, both, {.name = "all", .bottomUp = &lowering()}));
  if (Observer* o = Observer::current()) o->poolRetired(pool);
  return ends;
}

} // namespace

TEST_CASE("the last step of every pass is what the engine returned, with every step's node in its place") {
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    TempTrace file;
    std::vector<std::string> ends;
    recordTo(file.path, [&] { ends = compile(seed, 30 * static_cast<int>(seed)); });
    Trace trace(file.path);
    REQUIRE(trace.finished());
    REQUIRE(trace.scopes().size() == 1);
    size_t outer = 0, steps = 0, nested = 0;
    for (const PassInfo& pass : std::vector<PassInfo>(trace.passes(1))) {
      CAPTURE(pass.name);
      Cursor cursor(trace, pass.id);
      CHECK(cursor.rootAt(0) == pass.root);
      CHECK(cursor.rootAt(cursor.steps()) == pass.endRoot);
      for (int64_t k = 1; k <= cursor.steps(); ++k) {
        auto [before, after] = cursor.shown(k);
        CHECK(std::ranges::count(cursor.graphAt(k - 1), before) == 1);
        CHECK(std::ranges::count(cursor.graphAt(k), after) == 1);
      }
      if (pass.depth > 0) ++nested;
      steps += static_cast<size_t>(cursor.steps());
      if (pass.depth > 0) continue;
      Pool pool;
      PoolScope scope(pool);
      UOp again = Materializer(cursor.reader(), pool)(pass.endRoot);
      auto [a, b] = again.key();
      CHECK(std::to_string(a) + ":" + std::to_string(b) == ends[outer++]);
    }
    CHECK(outer == 5);
    CHECK(steps > 10);
    if (seed > 3) CHECK(nested > 0);
  }
}

TEST_CASE("a graph does not depend on how one got to its step") {
  TempTrace file;
  recordTo(file.path, [] { compile(7, 200); });
  Trace trace(file.path);
  std::mt19937 random(5);
  for (const PassInfo& pass : std::vector<PassInfo>(trace.passes(1))) {
    Cursor wandering(trace, pass.id);
    for (int jump = 0; jump < 60; ++jump) {
      auto k = static_cast<int64_t>(random() % static_cast<uint64_t>(pass.steps + 1));
      Cursor fresh(trace, pass.id);
      CHECK(expression(wandering.reader(), wandering.rootAt(k), 40, 1 << 16) ==
            expression(fresh.reader(), fresh.rootAt(k), 40, 1 << 16));
    }
  }
}

TEST_CASE("the difference of two steps splits both graphs without remainder") {
  TempTrace file;
  recordTo(file.path, [] { compile(9, 150); });
  Trace trace(file.path);
  for (const PassInfo& pass : std::vector<PassInfo>(trace.passes(1))) {
    Cursor cursor(trace, pass.id);
    for (int64_t k = 1; k <= cursor.steps(); ++k) {
      GraphDiff d = cursor.diff(k - 1, k);
      CHECK(d.kept + d.removed.size() + d.changed.size() == d.before.size());
      std::vector<NodeId> images;
      for (const auto& c : d.changed) images.push_back(c.after);
      std::ranges::sort(images);
      images.erase(std::unique(images.begin(), images.end()), images.end());
      CHECK(d.kept + d.added.size() + images.size() == d.after.size());
      GraphDiff back = cursor.diff(k, k - 1);
      CHECK(back.added == d.removed);
      CHECK(back.removed == d.added);
    }
  }
}

TEST_CASE("a gated node keeps its sources although they are rewritten elsewhere") {
  TempTrace file;
  recordTo(file.path, [] {
    Pool pool;
    PoolScope scope(pool);
    UOp r = UOp::range(8, 0), s = UOp::range(9, 1);
    UOp max = r.alu(Op::MAX, {s});
    UOp gated = max.alu(Op::OR, {s});
    UOp sinks[] = {max, gated};
    graphRewriteBottomUp(UOp::sink(sinks), lowering(), {.name = "gate"});
    if (Observer* o = Observer::current()) o->poolRetired(pool);
  });
  Trace trace(file.path);
  REQUIRE(trace.passes(0).size() == 1);
  PassInfo pass = trace.passes(0)[0];
  Cursor cursor(trace, pass.id);
  REQUIRE(cursor.steps() == 2);
  CHECK(cursor.rootAt(2) == pass.endRoot);
  CHECK(trace.gates(pass.id).size() == 1);
  std::string text = expression(cursor.reader(), cursor.rootAt(2));
  CHECK(text.find("MAX") != std::string::npos);
}

TEST_CASE("where a node came from and what became of it") {
  TempTrace file;
  recordTo(file.path, [] {
    Pool pool;
    PoolScope scope(pool);
    ObservedScope kernel({ScopeKind::Kernel, "k", {}, {}});
    UOp r = UOp::range(8, 0), s = UOp::range(9, 1);
    UOp max = r.alu(Op::MAX, {s});
    Observer::current()->onOrigin({max, "maximum", {"model.py", 12}});
    UOp sinks[] = {max + 1};
    graphRewrite(UOp::sink(sinks), shrinking(), {.name = "p", .bottomUp = &lowering()});
    Observer::current()->poolRetired(pool);
  });
  Trace trace(file.path);
  PassId pass = trace.findPass(1, "p");
  auto steps = trace.steps(pass);
  REQUIRE(steps.size() == 2);
  CHECK(trace.rule(steps[0].rule).name == "max-to-sub");
  CHECK(trace.rule(steps[1].rule).name == "sub-to-add");
  Provenance p(trace, 1);
  auto chain = p.chain(steps[1].after);
  REQUIRE(chain.size() == 3);
  CHECK(chain[0].maker == Maker::Rule);
  CHECK(chain[0].k == 2);
  CHECK(chain[1].k == 1);
  CHECK(chain[2].node == steps[0].before);
  CHECK(chain[2].maker == Maker::Root);
  auto fate = p.fate(steps[0].before);
  REQUIRE(fate.size() == 2);
  CHECK(fate[1].node == steps[1].after);
  auto origins = p.origins(steps[1].after);
  REQUIRE(origins.size() == 1);
  CHECK(origins[0].operation == "maximum");
  CHECK(origins[0].script.line == 12);
}

TEST_CASE("a difference beyond the steps there are is refused") {
  TempTrace file;
  recordTo(file.path, [] {
    Pool pool;
    PoolScope scope(pool);
    graphRewrite(randomGraph(2, 30), shrinking(), {.name = "simplify"});
  });
  Trace trace(file.path);
  Cursor cursor(trace, 1);
  CHECK_NOTHROW(cursor.diff(0, cursor.steps()));
  CHECK_THROWS_AS(cursor.diff(cursor.steps(), cursor.steps() + 1), Error);
  CHECK_THROWS_AS(cursor.diff(-1, 0), Error);
}
