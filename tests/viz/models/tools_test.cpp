// The tools of a session on real traces: conditions, bookmarks, hiding and grouping, keys, searching by
// fields.
#include "tests/viz/models/desk.h"
#include "viz/models/graph/node_query.h"

#include <doctest/doctest.h>

#include <QFile>

using namespace uopscope;
using namespace uopscope::test;

namespace {

PictureNode node(const char* op, const char* detail, const char* dtype) {
  PictureNode n;
  n.id = 7, n.op = op, n.detail = detail, n.dtype = dtype, n.users = 3;
  return n;
}

} // namespace

TEST_CASE("node query: fields, wildcards, comparisons, expressions and their opposites") {
  const PictureNode add = node("ADD", "r0*4+r1", "float.vec(4)");
  NodeFact fact;
  fact.line = 12, fact.shape = "3x4", fact.axis = "REDUCE";
  for (const auto& [query, holds] : std::vector<std::pair<const char*, bool>>{{"add", true},
                                                                              {"op:ADD", true},
                                                                              {"op:A*", true},
                                                                              {"op:AD", false},
                                                                              {"dtype:float*", true},
                                                                              {"dtype:int*", false},
                                                                              {"shape:3x*", true},
                                                                              {"shape:4x*", false},
                                                                              {"line:12", true},
                                                                              {"line:13", false},
                                                                              {"line>11", true},
                                                                              {"users>3", false},
                                                                              {"users<4", true},
                                                                              {"-op:ADD", false},
                                                                              {"-op:MUL", true},
                                                                              {"arg:/r[0-9]\\*4/", true},
                                                                              {"op:ADD axis:reduce", true},
                                                                              {"op:ADD line:3", false},
                                                                              {"\"r0*4+r1\"", true},
                                                                              {"#7", true}}) {
    const NodeQuery q = NodeQuery::parse(QLatin1String(query));
    CHECK_MESSAGE(q.problem().isEmpty(), query);
    CHECK_MESSAGE(q.matches(add, &fact) == holds, query);
  }
  CHECK(NodeQuery::parse("colour:red").problem().contains("colour"));
  CHECK(NodeQuery::parse("op:/(/").problem().size() > 0);
  CHECK(NodeQuery::parse("users>many").problem().contains("number"));
  CHECK(NodeQuery::parse("line:3").wantsFacts());
  CHECK_FALSE(NodeQuery::parse("op:ADD").wantsFacts());
}

TEST_CASE("conditions: run forwards and backwards over the whole trace, and say what they cannot read") {
  Desk d(compiledTrace());
  d.session.goToTraceStep(1);
  d.settle();
  Conditions& c = *d.tools.conditions();
  c.setText("op:ADD");
  d.settle();
  REQUIRE(c.problem().isEmpty());
  REQUIRE(c.count() > 3);
  std::vector<StepId> forwards;
  for (int i = 0; i < 3; ++i) {
    d.trigger("run-forward");
    forwards.push_back(d.session.traceStep());
    CHECK(d.session.stepInfo()["beforeNode"].toMap()["op"].toString() == "ADD");
  }
  CHECK(forwards[0] < forwards[1]);
  d.trigger("run-back");
  CHECK(d.session.traceStep() == forwards[1]);
  c.setText("where took_ns > 0 AND nonsense = 1");
  d.settle();
  CHECK(c.problem().contains("nonsense"));
  c.setText("flavour:sweet");
  CHECK(c.problem().contains("flavour"));
  c.setText("rule:no-such-rule-at-all");
  d.settle();
  CHECK(c.count() == 0);
}

TEST_CASE("bookmarks: kept beside the trace with their notes") {
  const QString trace = compiledTrace();
  QFile::remove(Bookmarks::fileFor(trace));
  QString link;
  {
    Desk d(trace);
    d.trigger("last-step");
    link = d.session.link();
    d.tools.bookmarks()->add("the end");
    CHECK(d.tools.bookmarks()->count() == 1);
  }
  Desk again(trace);
  REQUIRE(again.tools.bookmarks()->count() == 1);
  CHECK(again.tools.bookmarks()->data(again.tools.bookmarks()->index(0), Bookmarks::NoteRole) == "the end");
  again.tools.bookmarks()->goTo(0);
  again.settle();
  CHECK(again.session.link() == link);
  again.tools.bookmarks()->remove(0);
  QFile bad(Bookmarks::fileFor(trace));
  REQUIRE(bad.open(QIODevice::WriteOnly));
  bad.write("{\"not\": [a list");
  bad.close();
  Desk damaged(trace);
  CHECK(damaged.tools.bookmarks()->count() == 0);
  QFile::remove(Bookmarks::fileFor(trace));
}

TEST_CASE("graph tools: hide, show only neighbours, reveal, show all; every count is told") {
  Desk d(compiledTrace());
  const size_t all = d.picture().nodes.size();
  const int64_t sink = d.picture().nodes.back().id;
  REQUIRE(d.picture().find(sink));
  d.session.setNode(d.picture().nodes[all / 2].id);
  d.settle();
  const int64_t chosen = d.session.node();
  d.trigger("hide");
  CHECK(d.picture().nodes.size() == all - 1);
  CHECK(d.session.graph()->hiddenNodes() == 1);
  CHECK_FALSE(d.picture().find(chosen));
  d.trigger("show-all");
  CHECK(d.picture().nodes.size() == all);
  d.session.setNode(chosen);
  d.settle();
  d.trigger("neighbourhood");
  const size_t near = d.picture().nodes.size();
  CHECK(near < all);
  CHECK(near >= 2);
  CHECK(d.session.graph()->hiddenNodes() == static_cast<int>(all - near));
  for (int i = 0; i < 6; ++i) {
    d.trigger("reveal-inputs");
    d.trigger("reveal-outputs");
  }
  CHECK(d.picture().nodes.size() >= near);
}

TEST_CASE("graph tools: groups stand for their nodes, open and close, and stay put while stepping") {
  Desk d(compiledTrace());
  // A pass in which a loop holds more than one node.
  size_t all = 0;
  Trace trace(compiledTrace().toStdString());
  for (const ScopeInfo& scope : trace.scopes())
    for (const PassInfo& p : trace.passes(scope.id)) {
      if (d.session.graph()->groups() > 0) break;
      d.tools.graph()->setGroupBy("nothing");
      d.session.goToPass(scope.id, p.id);
      d.settle();
      all = d.picture().nodes.size();
      d.tools.graph()->setGroupBy("loop");
      d.settle();
    }
  REQUIRE(d.session.graph()->groups() > 0);
  CHECK(d.picture().nodes.size() == all - static_cast<size_t>(d.session.graph()->groupedNodes()) +
                                        static_cast<size_t>(d.session.graph()->groups()));
  int64_t group = -1;
  for (const PictureNode& n : d.picture().nodes)
    if (n.members > 0) group = n.id;
  REQUIRE(group >= kFirstGroupId);
  const qlonglong pass = d.session.pass();
  const auto at = std::pair(d.picture().find(group)->x, d.picture().find(group)->y);
  d.trigger("next-step");
  const PictureNode* still = d.picture().find(group);
  if (d.session.pass() == pass && still) CHECK(std::pair(still->x, still->y) == at);
  d.session.goToPass(d.session.trace()->pass(pass).scope, pass);
  d.settle();
  d.tools.graph()->toggleGroup(group);
  d.settle();
  CHECK_FALSE(d.picture().find(group));
  for (const char* by : {"reduce", "kernel", "tensor", "nothing"}) {
    d.tools.graph()->setGroupBy(by);
    d.settle();
    CHECK(d.tools.graph()->groupBy() == by);
    CHECK_FALSE(d.picture().nodes.empty());
  }
}

TEST_CASE(
    "graph tools: a step laid out by itself shows the same in less room, and the pass comes back as it was") {
  Desk d(compiledTrace());
  const auto area = [&] {
    const PicturePtr& p = d.session.graph()->picture();
    return static_cast<double>(p->width) * static_cast<double>(p->height);
  };
  const auto shown = [&] {
    std::vector<std::pair<int64_t, Mark>> out;
    for (const PictureNode& n : d.session.graph()->picture()->nodes) out.emplace_back(n.id, n.mark);
    std::sort(out.begin(), out.end());
    return out;
  };
  for (const qlonglong step :
       {qlonglong{0}, qlonglong{1}, d.session.stepCount() / 2, d.session.stepCount()}) {
    d.session.setStep(step);
    d.settle();
    const auto before = d.session.graph()->picture();
    const auto nodes = shown();
    const double whole = area();
    d.trigger("step-alone");
    CHECK(d.session.stepAlone());
    CHECK(d.session.graph()->picture()->alone);
    CHECK(shown() == nodes);
    CHECK(area() <=
          1.4 * whole); // edges of boxes take room of their own, which slots of the whole pass share
    const PicturePtr& alone = d.session.graph()->picture();
    for (size_t i = 0; i < alone->nodes.size(); ++i)
      for (size_t j = i + 1; j < alone->nodes.size(); ++j) {
        const PictureNode &a = alone->nodes[i], &b = alone->nodes[j];
        CHECK((std::abs(a.x - b.x) >= (a.width + b.width) / 2 - 1 ||
               std::abs(a.y - b.y) >= (a.height + b.height) / 2 - 1));
      }
    d.trigger("step-alone");
    for (const PictureNode& n : before->nodes) {
      const PictureNode* again = d.session.graph()->picture()->find(n.id);
      REQUIRE(again);
      CHECK(again->x == n.x);
      CHECK(again->y == n.y);
    }
  }
}

TEST_CASE("graph tools: a pinned node is where it was put, at every step") {
  Desk d(compiledTrace());
  const int64_t id = d.picture().nodes.front().id;
  d.tools.graph()->pinAt(id, -500, 40);
  d.settle();
  REQUIRE(d.picture().find(id));
  CHECK(d.picture().find(id)->x == doctest::Approx(-500));
  CHECK(d.picture().find(id)->pinned);
}

TEST_CASE("colours: by type, axis, line, pass, cost and how often, each with a legend that counts what it "
          "colours") {
  Desk d(compiledTrace());
  d.session.goToScope(d.session.trace()->pass(d.session.pass()).scope); // its first pass still has loops
  d.settle();
  for (const char* by : {"dtype", "axis", "line", "pass", "cost", "times"}) {
    d.session.graph()->setColourBy(by);
    d.settle();
    const TintingPtr t = d.session.graph()->tinting();
    REQUIRE(t);
    uint32_t sum = 0, coloured = 0;
    for (const auto& e : t->legend) sum += e.count;
    for (const uint8_t c : t->of) coloured += c != Tinting::kNone;
    CHECK_MESSAGE(sum == coloured, by);
    if (QLatin1String(by) != QLatin1String("line")) CHECK_MESSAGE(sum > 0, by);
  }
  d.session.graph()->setColourBy("op");
  CHECK_FALSE(d.session.graph()->tinting());
}

TEST_CASE("moves: into nested passes and out of them, forwards and backwards") {
  Desk d(expressionTrace());
  // The first pass with a parent, entered from the parent's step before it.
  Trace& t = readerOf(d.session);
  PassInfo nested;
  for (const ScopeInfo& s : t.scopes())
    for (const PassInfo& p : t.passes(s.id))
      if (p.parent && p.steps > 0 && !nested.id) nested = p;
  REQUIRE(nested.id);
  d.session.goTo(nested.parent, nested.parentSteps);
  d.settle();
  d.trigger("step-in");
  CHECK(d.session.pass() == nested.id);
  CHECK(d.session.step() == 1);
  const StepId inside = d.session.traceStep();
  d.trigger("finish");
  CHECK(d.session.pass() == nested.parent);
  CHECK(d.session.step() == nested.parentSteps + 1);
  d.session.goTo(nested.id, 1);
  d.settle();
  d.trigger("unfinish");
  CHECK(d.session.pass() == nested.parent);
  CHECK(d.session.step() == nested.parentSteps);
  d.session.goToTraceStep(inside);
  d.settle();
  d.trigger("step-in");
  d.trigger("step-in-back");
  CHECK(d.session.traceStep() == inside);
}

TEST_CASE("moves: a selection goes along to the next pass") {
  Desk d(compiledTrace());
  int kept = 0;
  for (const PictureNode& n : std::vector<PictureNode>(d.picture().nodes)) {
    if (n.op != "DEFINE_GLOBAL" && n.op != "RANGE") continue;
    d.session.setNode(n.id);
    d.settle();
    const qlonglong pass = d.session.pass();
    d.trigger("next-pass");
    kept += d.session.node() >= 0;
    d.session.goToPass(d.session.scope(), pass);
    d.settle();
  }
  CHECK(kept > 0);
}

TEST_CASE("keys: changed, given back, and never given twice") {
  Desk d(compiledTrace());
  CHECK(d.session.preferences()->setKeys("play", "Ctrl+Shift+Space"));
  auto keysOf = [&](const char* id) {
    for (const QVariant& v : d.session.preferences()->actions())
      if (v.toMap()["id"].toString() == id) return v.toMap()["keys"].toStringList();
    return QStringList();
  };
  CHECK(keysOf("play") == QStringList{"Ctrl+Shift+Space"});
  CHECK_FALSE(d.session.preferences()->setKeys("play", "Right"));
  CHECK(keysOf("play") == QStringList{"Ctrl+Shift+Space"});
  CHECK(d.session.preferences()->setKeys("play", "default"));
  CHECK(keysOf("play") == QStringList{"Ctrl+Space"});
  QStringList all;
  for (const QVariant& v : d.session.preferences()->actions()) all << v.toMap()["keys"].toStringList();
  CHECK(all.removeDuplicates() == 0);
}

TEST_CASE("play: steps by itself to the end of the pass and stops there") {
  Desk d(compiledTrace());
  d.trigger("first-step");
  d.tools.setSpeed(64);
  d.session.trigger("play");
  CHECK(d.tools.playing());
  CHECK(waitFor([&] { return !d.tools.playing(); }));
  CHECK(d.session.step() == d.session.stepCount());
}
