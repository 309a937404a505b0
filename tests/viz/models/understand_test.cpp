// Tools that explain real traces: why a rule did not fire, checks, comparisons, times, SQL.
#include "tests/viz/models/desk.h"

#include <doctest/doctest.h>

#include <QFile>

using namespace uopscope;
using namespace uopscope::test;

TEST_CASE("why: the nearest misses are ranked, a chosen rule is explained and drawn over the graph") {
  Desk d(compiledTrace());
  d.goToPass("devectorize");
  d.trigger("last-step");
  for (const PictureNode& n : d.session.graph()->picture()->nodes)
    if (n.op == "ADD" && n.id < 0x80000000) d.session.setNode(n.id);
  REQUIRE(d.session.node() >= 0);
  d.settle();
  d.trigger("why");
  WhyModel& why = *d.tools.why();
  REQUIRE(why.open());
  REQUIRE(why.count() > 3);
  double last = 2;
  for (int i = 0; i < why.count(); ++i) {
    const double near = why.data(why.index(i), WhyModel::NearRole).toDouble();
    CHECK(near <= last);
    CHECK_FALSE(why.data(why.index(i), WhyModel::ReasonRole).toString().isEmpty());
    last = near;
  }
  const QString rule = why.data(why.index(why.count() - 1), WhyModel::RuleRole).toString();
  why.ask(rule);
  d.settle();
  CHECK(why.rule() == rule);
  CHECK_FALSE(why.answer().isEmpty());
  CHECK_FALSE(why.pattern().isEmpty());
  CHECK(d.session.graph()->notesShown());
  why.ask("no such rule");
  d.settle();
  CHECK(why.answer().contains("no rule"));
  d.trigger("why");
  CHECK_FALSE(why.open());
  CHECK_FALSE(d.session.graph()->notesShown());
}

TEST_CASE("check: a right rewrite is found right, and the whole trace has none that is wrong") {
  Desk d(compiledTrace());
  d.goToPass("devectorize");
  d.tools.conditions()->setText("rule:normal-sum");
  d.settle();
  if (d.tools.conditions()->count() > 0) {
    d.trigger("run-forward");
    d.trigger("check");
    CHECK(d.tools.checker()->verdict() == "same");
  }
  d.trigger("check-all");
  CHECK_FALSE(d.tools.checker()->survey().isEmpty());
  for (const QVariant& f : d.tools.checker()->faults()) MESSAGE(f.toMap()["rule"].toString().toStdString());
  CHECK(d.tools.checker()->faults().isEmpty());
}

TEST_CASE("check: a bound variable is a value like others, and no damage") {
  const TempTrace file;
  recordTo(file.path, [] {
    Pool pool;
    PoolScope scope(pool);
    ObservedScope kernel({.kind = ScopeKind::Kernel, .name = "bound", .script = {}, .root = {}});
    const UOp n = UOp::variable("n", 1, 10), r0 = UOp::range(4, 0);
    const UOp bound = UOp::make(Op::BIND, n.dtype(), {n, n.constLike(int64_t{3})});
    graphRewrite(UOp::sink(std::vector<UOp>{(bound + 0) * 1, bound + r0 * 0}), shrinking(),
                 {.name = "shrink"});
  });
  Desk d(QString::fromStdString(file.path));
  d.goToPass("shrink");
  REQUIRE(d.session.stepCount() >= 3);
  for (qlonglong step = 1; step <= d.session.stepCount(); ++step) {
    d.session.setStep(step);
    d.settle();
    d.trigger("check");
    CAPTURE(step);
    CHECK(d.tools.checker()->verdict() == "same");
    CHECK(d.session.notice().isEmpty());
  }
}

TEST_CASE("compare: a state with itself is the same; a pass with its end is not; sides can be swapped") {
  Desk d(compiledTrace());
  d.goToPass("devectorize");
  CompareModel& c = *d.tools.compare();
  c.remember();
  c.compareNow();
  d.settle();
  const Picture& same = *c.graph()->picture();
  CHECK(same.added + same.removed + same.changed == 0);
  CHECK_FALSE(same.nodes.empty());
  c.comparePass();
  d.settle();
  const uint32_t added = c.graph()->picture()->added, removed = c.graph()->picture()->removed;
  CHECK(added + removed + c.graph()->picture()->changed > 0);
  c.swap();
  d.settle();
  CHECK(c.graph()->picture()->added == removed);
  CHECK(c.graph()->picture()->removed == added);
  c.setWhat("tree");
  d.settle();
  REQUIRE(c.rowCount() > 0);
  const int all = c.rowCount();
  c.setOnlyChanges(true);
  CHECK(c.rowCount() + c.hidden() == all);
  c.setWhat("source");
  d.settle();
  CHECK(c.summary().contains("same"));
}

TEST_CASE("compare: texts line by line, with the words that differ") {
  const auto rows = compareTexts("a = 1\nb = 2\nc = 3\n", "a = 1\nb = 4\nc = 3\nd = 5\n");
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].mark == ' ');
  CHECK(rows[1].mark == '~');
  CHECK(rows[1].leftHtml.contains("2</font>"));
  CHECK_FALSE(rows[1].leftHtml.contains("b</font>"));
  CHECK(rows[3].mark == '+');
  CHECK(rows[3].left == 0);
  CHECK(rows[3].right == 4);
}

TEST_CASE(
    "profile: parts fit in the whole, boxes lie inside their parents, and lead to what they stand for") {
  Desk d(compiledTrace());
  d.session.setTab("profile");
  d.settle();
  ProfileModel& model = *d.tools.profile();
  REQUIRE(model.ready());
  const Profile& p = *model.profile();
  bool rules = false;
  for (const ProfileNode& n : p.nodes) {
    int64_t sum = 0;
    for (const uint32_t c : n.children) sum += p.nodes[c].ns;
    CHECK(sum <= n.ns);
    rules = rules || n.kind == "rule";
  }
  CHECK(rules);
  for (const auto& boxes : {flame(p, 0, 30, 0), treemap(p, 0, 6, 1.6f, 0.0005f)}) {
    REQUIRE(boxes.size() > 5);
    std::map<uint32_t, ProfileBox> at;
    int outside = 0;
    for (const ProfileBox& b : boxes) {
      at[b.node] = b;
      if (b.node == 0) continue;
      const auto parent = at.find(p.nodes[b.node].parent);
      REQUIRE(parent != at.end());
      outside +=
          b.x < parent->second.x - 1e-4f || b.x + b.width > parent->second.x + parent->second.width + 1e-3f;
    }
    CHECK(outside == 0);
  }
  for (size_t i = 0; i < p.nodes.size(); ++i)
    if (p.nodes[i].kind == "pass" && p.nodes[i].name == "devectorize") {
      model.setRoot(static_cast<int>(i));
      CHECK(model.way().size() > 2);
      model.follow(static_cast<int>(i));
      d.settle();
      CHECK(d.session.passName() == "devectorize");
      break;
    }
  CHECK_FALSE(model.findings().isEmpty()); // there are always rules that never matched
  model.compareWith(compiledTrace());
  d.settle();
  REQUIRE_FALSE(model.comparison().isEmpty());
  CHECK(model.comparison().front().toMap()["matches"] == model.comparison().front().toMap()["otherMatches"]);
}

TEST_CASE("sql: results, errors, limits, and what a result becomes") {
  Desk d(compiledTrace());
  SqlModel& sql = *d.tools.sql();
  CHECK(sql.schema().size() > 5);
  for (const QVariant& example : sql.saved()) {
    sql.run(example.toMap()["text"].toString());
    d.settle();
    CHECK_MESSAGE(sql.problem().isEmpty(), example.toMap()["name"].toString().toStdString(), ": ",
                  sql.problem().toStdString());
  }
  sql.run("SELECT id AS step, before AS node FROM step ORDER BY id LIMIT 5");
  d.settle();
  REQUIRE(sql.rowCount() == 5);
  CHECK(sql.condition(0).startsWith("where step.id IN (1,"));
  CHECK(sql.follow(2, 0));
  d.settle();
  CHECK(d.session.traceStep() == 3);
  sql.mark(1);
  CHECK(d.session.graph()->notesShown());
  sql.run("SELECT nonsense");
  d.settle();
  CHECK(sql.problem().contains("nonsense"));
  sql.run("DELETE FROM step");
  d.settle();
  CHECK_FALSE(sql.problem().isEmpty());
  sql.run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i FROM n");
  d.settle();
  CHECK(sql.more());
  CHECK(sql.rowCount() == 1000);
  sql.lift();
  d.settle();
  CHECK(sql.rowCount() == 3000);
  const QString file = compiledTrace() + ".csv";
  CHECK(sql.exportTo(file).isEmpty());
  QFile in(file);
  REQUIRE(in.open(QIODevice::ReadOnly));
  CHECK(in.readLine() == "i\n");
  in.remove();
  CHECK(sql.exportTo("/no/such/folder/x.csv").contains("/no/such/folder"));
  CHECK(sql.exportTo(file + ".txt").contains(".csv"));
}

TEST_CASE("sql: rows are sorted, steps behind a number are listed, and a column colours the graph") {
  Desk d(compiledTrace());
  SqlModel& sql = *d.tools.sql();
  sql.run("SELECT column1 AS v FROM (VALUES (3), (NULL), ('b'), (1.5), ('a'))");
  d.settle();
  const auto column = [&] {
    QStringList out;
    for (int r = 0; r < sql.rowCount(); ++r) out << sql.data(sql.index(r, 0), Qt::DisplayRole).toString();
    return out.join(QLatin1Char(' '));
  };
  sql.sortBy(0);
  CHECK(column() == "NULL 1.5 3 a b");
  sql.sortBy(0);
  CHECK(column() == "b a 3 1.5 NULL");
  CHECK(sql.colour(0) == 0); // no column names nodes

  const StepInfo step = readerOf(d.session).steps(d.session.pass(), 1, 1).front();
  const RuleInfo rule = readerOf(d.session).rule(step.rule);
  sql.showSteps("rule", QString::fromStdString(rule.name), 0, d.session.pass());
  d.settle();
  CHECK(d.session.tab() == "sql");
  REQUIRE(sql.rowCount() > 0);
  const int ruleColumn = static_cast<int>(sql.columns().indexOf("rule"));
  for (int r = 0; r < sql.rowCount(); ++r)
    CHECK(sql.data(sql.index(r, ruleColumn), Qt::DisplayRole) == QString::fromStdString(rule.name));
  const auto one = sql.rowCount();
  for (const char* what : {"pass", "op"}) {
    sql.showSteps(what, what[0] == 'p' ? d.session.passName() : QStringLiteral("ADD"), 0, 0);
    d.settle();
    CHECK_MESSAGE(sql.problem().isEmpty(), sql.problem().toStdString());
    CHECK(sql.rowCount() > 0);
  }
  sql.showSteps("rule", "it's no rule", 0, 0);
  d.settle();
  CHECK(sql.rowCount() == 0);
  CHECK(sql.problem().isEmpty());
  CHECK(one > 0);

  QStringList values;
  for (const PictureNode& n : d.session.graph()->picture()->nodes)
    if (n.id < kFirstViewNode && values.size() < 20)
      values << QStringLiteral("(%1, %2)").arg(n.id).arg(values.size() * 10);
  sql.run(QStringLiteral("SELECT column1 AS node, column2 AS weight FROM (VALUES %1)").arg(values.join(',')));
  d.settle();
  CHECK(sql.colour(1) == values.size());
  const GraphSource& graph = *d.session.graph();
  REQUIRE(graph.tinting());
  CHECK(graph.colourBy() == "query");
  CHECK(graph.answerTitle() == "weight");
  CHECK(graph.legendOrdered());
  REQUIRE(graph.legend().size() == 4);
  CHECK(graph.legend()[0].toMap()["text"] == "0 to 40");
  CHECK(graph.legend()[3].toMap()["count"] == 5);
}

TEST_CASE("sql: an endless query is cancelled by the next one, and nothing else waits for it") {
  Desk d(compiledTrace());
  SqlModel& sql = *d.tools.sql();
  sql.run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n");
  d.session.trigger("next-step");
  CHECK(waitFor([&] { return !d.session.busy(); }));
  sql.run("SELECT 7 AS seven");
  CHECK(waitFor([&] { return d.session.settled(); }));
  CHECK(sql.rowCount() == 1);
  CHECK(sql.columns() == QStringList{"seven"});
}
