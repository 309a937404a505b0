// Compilations stepped side by side, and turned into traces again.
#include "engine/uop/sint.h"
#include "replay/compare/lock_step.h"
#include "replay/compare/retell.h"
#include "replay/compare/stored_compilations.h"
#include "replay/read/materialize.h"
#include "tests/replay/compare/history.h"

#include <doctest/doctest.h>

#include <utility>

using namespace uopscope;
using namespace uopscope::test;

namespace {

struct Pair {
  Compilation x, y;
  Story a, b;
  Pair(const Commit& before, const Commit& after, size_t input)
      : x(compileAs(before, historyInputs()[input])), y(compileAs(after, historyInputs()[input])), a(x.story),
        b(y.story) {}
};

std::string resultOf(Trace& trace, PassId pass) {
  Cursor cursor(trace, pass);
  Pool pool;
  PoolScope scope(pool);
  return graphToText(Materializer(cursor.reader(), pool)(cursor.rootAt(cursor.steps())));
}
std::string endOf(Trace& trace, const PassInfo& pass) {
  Pool pool;
  PoolScope scope(pool);
  return graphToText(Materializer(trace.nodes().reader(), pool)(pass.endRoot));
}

} // namespace

TEST_CASE("lock-step: every event is in one row, in order, and equal compilations differ nowhere") {
  const Pair p(commits::of(commits::kFirst), commits::of(commits::kFirst), 1);
  const LockStep both(p.a, p.b);
  size_t events = 0;
  for (const StoryEvent& e : p.a.events()) events += e.kind != StoryEvent::PassEnd;
  CHECK(both.rows().size() == events);
  for (const LockRow& r : both.rows()) {
    CHECK(r.mark == ' ');
    CHECK(r.before == r.after);
    CHECK(r.beforePlace == r.afterPlace);
  }
}

TEST_CASE("lock-step: the side that makes no rewrite stays, and both go on together") {
  const Pair p(commits::of(commits::kFirst), commits::of(commits::kOff), 1);
  const LockStep both(p.a, p.b);
  const Divergence d = firstDivergence(p.a, p.b);
  const LockRow& row = both.rows()[both.rowOf(d)];
  CHECK(row.mark == '-');
  CHECK(row.after == -1);
  CHECK(p.a.word(p.a.events()[static_cast<size_t>(row.before)].word) == "mul-one");
  CHECK(row.beforePlace.step == row.afterPlace.step + 1);
  int before = -1, after = -1;
  for (const LockRow& r : both.rows()) {
    if (r.before >= 0) CHECK(r.before > std::exchange(before, r.before));
    if (r.after >= 0) CHECK(r.after > std::exchange(after, r.after));
  }
  // the last pass begins on both sides in one row
  bool paired = false;
  for (const LockRow& r : both.rows())
    paired |=
        r.before >= 0 && r.after >= 0 && r.beforePlace == LockPlace{1, 0} && r.afterPlace == LockPlace{1, 0};
  CHECK(paired);
}

TEST_CASE("lock-step: the same rule with another result is one row") {
  const Pair p(commits::of(commits::kFirst), commits::of(commits::kWrong), 1);
  const LockStep both(p.a, p.b);
  const LockRow& row = both.rows()[both.rowOf(firstDivergence(p.a, p.b))];
  CHECK(row.mark == '~');
  CHECK(row.before >= 0);
  CHECK(row.after >= 0);
}

TEST_CASE("a compilation told as a trace holds its passes, rewrites, results and texts") {
  for (size_t input = 0; input < 12; ++input) {
    const Compilation c = compileAs(commits::of(commits::kFirst), historyInputs()[input]);
    TempTrace file;
    traceOf(c, file.path);
    Trace trace(file.path);
    REQUIRE(trace.scopes().size() == 1);
    const ScopeInfo& scope = trace.scopes()[0];
    CHECK(scope.name == c.name);
    CHECK(trace.artifact(scope.id, "source") == c.source);
    const Story story(c.story);
    REQUIRE(trace.passes(scope.id).size() == 2);
    int64_t steps = 0;
    for (const StoryEvent& e : story.events()) steps += e.kind == StoryEvent::Step;
    CHECK(scope.steps == steps);
    for (const PassInfo& pass : trace.passes(scope.id)) CHECK(resultOf(trace, pass.id) == endOf(trace, pass));
  }
}

TEST_CASE("rewrites on the way down are told as such") {
  Compilation made;
  {
    CaptureObserver capture([&](Compilation c) {
      made = std::move(c);
      return true;
    });
    ObserverScope observed(&capture);
    Pool pool;
    PoolScope scope(pool);
    const UOp r = UOp::range(4, 0), s = UOp::range(7, 1);
    const UOp deep = r.alu(Op::MAX, {s}), root = UOp::sink(std::vector<UOp>{deep.alu(Op::MAX, {r + 1})});
    ObservedScope kernel({ScopeKind::Kernel, "down", {}, root});
    graphRewrite(root, {}, {.name = "lower", .bottomUp = &lowering()});
  }
  TempTrace file;
  traceOf(made, file.path);
  Trace trace(file.path);
  const PassInfo pass = trace.passes(1).at(0);
  REQUIRE(pass.steps >= 3);
  CHECK(trace.steps(pass.id)[0].kind == StepKind::WayDown);
  CHECK(resultOf(trace, pass.id) == endOf(trace, pass));
}

TEST_CASE("a trace read as a corpus and told again has the passes and rewrites it had, and says where") {
  TempTrace file, again;
  recordTo(file.path, [] {
    Pool pool;
    PoolScope scope(pool);
    const UOp r0 = UOp::range(4, 0);
    const UOp root = UOp::sink(std::vector<UOp>{(r0 + 0) * 1 + ((r0 + 2) + 3) % r0});
    ObservedScope kernel({.kind = ScopeKind::Kernel, .name = "r_4", .script = {"m.py", 3}, .root = root});
    graphRewrite(graphRewrite(root, shrinking(), {.name = "shrink"}), nesting(), {.name = "nest"});
    Observer::current()->onArtifact({.kind = "source", .text = "void r_4() {}"});
    Observer::current()->poolRetired(pool);
  });
  const StoredCompilations stored(file.path);
  const Corpus corpus = Corpus::open(stored.path());
  REQUIRE(corpus.entries().size() == 1);
  const CorpusEntry e = corpus.entries()[0];
  CHECK(stored.scopes().at(e.inputHash) == 1);
  traceOf(corpus.load(e), again.path);
  Trace first(file.path), second(again.path);
  CHECK(second.passes(1).size() == first.passes(1).size());
  CHECK(second.scope(1).steps == first.scope(1).steps);
  for (const PassInfo& pass : second.passes(1)) CHECK(resultOf(second, pass.id) == endOf(second, pass));
}

TEST_CASE("the shape of a scalar is stored and read again; other vectors of nothing are refused") {
  Pool pool;
  PoolScope scope(pool);
  const UOp root = UOp::sink(std::vector<UOp>{shapeToUOp({})});
  CHECK(graphFromText(graphToText(root)) == root);
  CHECK_THROWS_AS(graphFromText("VECTORIZE\tdtypes.float\t\t\n"), Error);
}

TEST_CASE("a stored constant is one that its type has") {
  Pool pool;
  PoolScope scope(pool);
  CHECK(graphFromText("CONST\tdtypes.float\t1.4426952216293335\t\n") ==
        UOp::constant(dtypes::float32, 1.4426952216293335));
  CHECK(graphFromText("CONST\tdtypes.uchar\t257\t\n") == UOp::constant(dtypes::uint8, int64_t{1}));
  CHECK(graphFromText("CONST\tdtypes.half\t3\t\n") == UOp::constant(dtypes::float16, 3.0));
}
