// Profiling by mouse and keys: flame graph and treemap, findings, two traces, statistics, the timeline with
// its buffers, tables written as files.
#include "tests/viz/window_support.h"

#include <QFile>

using namespace uopscope;
using namespace uopscope::test;

namespace {

QPoint middleOfBox(Window& w, int node) {
  QQuickItem* view = w.item("profileView");
  QPointF at;
  QMetaObject::invokeMethod(view, "middleOf", Q_RETURN_ARG(QPointF, at), Q_ARG(int, node));
  REQUIRE(at.x() >= 0);
  return view->mapToScene(at).toPoint();
}

int firstOf(Window& w, const std::string& kind) {
  const auto& nodes = w.tools.profile()->profile()->nodes;
  int64_t most = -1;
  int found = -1;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].kind == kind && nodes[i].ns > most) most = nodes[i].ns, found = static_cast<int>(i);
  REQUIRE(found >= 0);
  return found;
}

void openProfile(Window& w, const char* mode) {
  w.key(Qt::Key_7, Qt::ControlModifier);
  REQUIRE(waitFor([&] { return w.tools.profile()->ready(); }));
  w.click(w.item(QLatin1String("profileMode-") + QLatin1String(mode)));
  w.settle();
}

} // namespace

TEST_CASE("profile: a click zooms into the treemap, the way leads back, a double click goes to the pass") {
  Window w(compiledTrace());
  openProfile(w, "treemap");
  CHECK(w.item("profileView")->property("mode").toString() == "treemap");
  const int kernel = firstOf(w, "kernel");
  QTest::mouseClick(w.window, Qt::LeftButton, {}, middleOfBox(w, kernel));
  w.settle();
  CHECK(w.tools.profile()->root() == kernel);
  w.click(w.item("profileWay-0"));
  CHECK(w.tools.profile()->root() == 0);
  const int pass = firstOf(w, "pass");
  const PassId wanted = w.tools.profile()->profile()->nodes[static_cast<size_t>(pass)].pass;
  w.doubleClick(middleOfBox(w, pass));
  CHECK(w.session.tab() == "graph");
  CHECK(w.session.pass() == wanted);
}

TEST_CASE("profile: a double click in the flame graph goes to what was clicked, however deep it lies") {
  Window w(compiledTrace());
  openProfile(w, "flame");
  const int pass = firstOf(w, "pass");
  const PassId wanted = w.tools.profile()->profile()->nodes[static_cast<size_t>(pass)].pass;
  w.doubleClick(middleOfBox(w, pass));
  CHECK(w.session.tab() == "graph");
  CHECK(w.session.pass() == wanted);
}

TEST_CASE("profile: arrows walk over the boxes, Return goes there") {
  Window w(compiledTrace());
  openProfile(w, "flame");
  w.item("profileView")->forceActiveFocus(Qt::TabFocusReason);
  w.key(Qt::Key_Down);
  const int first = w.tools.profile()->root();
  CHECK(first != 0);
  w.key(Qt::Key_Up);
  CHECK(w.tools.profile()->root() == 0);
  const int box = firstOf(w, "pass");
  const PassId pass = w.tools.profile()->profile()->nodes[static_cast<size_t>(box)].pass;
  w.tools.profile()->setRoot(box);
  w.settle();
  w.key(Qt::Key_Return);
  CHECK(w.session.pass() == pass);
}

TEST_CASE("profile: a finding that happened leads to its step, rules that never matched to the statistics") {
  Window w(expressionTrace());
  openProfile(w, "findings");
  const QVariantList all = w.tools.profile()->findings();
  REQUIRE_FALSE(all.isEmpty());
  bool dead = false;
  for (int i = 0; i < all.size(); ++i) {
    const QVariantMap f = all[i].toMap();
    w.session.setTab("profile");
    w.settle();
    QQuickItem* list = w.item("findings");
    QMetaObject::invokeMethod(list, "positionViewAtIndex", Q_ARG(int, i), Q_ARG(int, 0));
    w.settle();
    const double row = list->property("contentHeight").toDouble() / static_cast<double>(all.size());
    QTest::mouseClick(
        w.window, Qt::LeftButton, {},
        list->mapToScene(QPointF(90, (i + 0.5) * row - list->property("contentY").toDouble())).toPoint());
    w.settle();
    if (f["kind"].toString() == "dead") {
      dead = true;
      CHECK(w.session.tab() == "stats");
      CHECK(w.session.stats()->show() == "never");
    } else {
      CHECK(w.session.tab() == "graph");
    }
  }
  CHECK(dead);
  // Most expensive first, each with its share; one line sums up the cheap ones.
  int cheap = 0;
  for (const QVariant& f : all) {
    const QVariantMap m = f.toMap();
    if (m["kind"].toString() != "undo") CHECK(m["detail"].toString().contains("% of the time"));
    cheap += m["title"].toString().contains("more rules");
  }
  CHECK(cheap <= 1);
}

TEST_CASE("profile: another trace is compared rule by rule, and a name filters") {
  Window w(compiledTrace());
  openProfile(w, "compare");
  w.tools.profile()->compareWith(expressionTrace());
  REQUIRE(waitFor([&] { return !w.tools.profile()->comparison().isEmpty(); }));
  w.settle();
  const int all = w.item("twoTraces")->property("count").toInt();
  CHECK(all > 3);
  // The second trace counts as before: rules that take more time now have grown.
  for (const QVariant& v : w.tools.profile()->comparison()) {
    const QVariantMap m = v.toMap();
    CHECK(m["change_ns"].toLongLong() == m["here_ns"].toLongLong() - m["there_ns"].toLongLong());
    CHECK(m["less"].toBool() == m["delta"].toString().startsWith(QChar(0x2212)));
  }
  w.item("profileFind")->forceActiveFocus();
  w.type("add-zero");
  CHECK(w.item("twoTraces")->property("count").toInt() < all);
  CHECK(w.item("twoTraces")->property("count").toInt() >= 1);
}

TEST_CASE("profile: statistics are grouped, ranged, sorted and filtered by mouse, a row leads to its steps") {
  Window w(compiledTrace());
  w.click(w.item("tab-stats"));
  const int rules = w.session.stats()->total();
  w.click(w.item("statsGroup-pass"));
  CHECK(w.session.statsGroup() == "pass");
  w.click(w.item("statsGroup-rule"));
  w.click(w.item("statsRange-kernel"));
  CHECK(w.session.statsRange() == "kernel");
  w.click(w.item("statsRange-trace"));
  CHECK(w.session.stats()->total() == rules);
  w.click(w.item("statsShow-never"));
  CHECK(w.session.stats()->shown() < rules);
  w.click(w.item("statsShow-applied"));
  w.click(w.item("statsHeader3"));
  QQuickItem* table = w.item("statsTable");
  QTest::mouseClick(w.window, Qt::LeftButton, {}, table->mapToScene(QPointF(40, 14)).toPoint());
  w.settle();
  const QString rule = w.session.stats()->row(0)["name"].toString();
  w.click(w.item("statsNext"));
  CHECK(w.session.tab() == "graph");
  CHECK(w.session.stepInfo()["rule"].toString() == rule);
}

TEST_CASE("tables: what is shown is written as CSV and JSON, results of SQL too") {
  Window w(compiledTrace());
  w.tools.sql()->run("SELECT id AS step, rule FROM step LIMIT 5");
  w.session.setTab("sql");
  REQUIRE(waitFor([&] { return w.tools.sql()->rowCount() == 5; }));
  const QString base = compiledTrace() + ".table";
  for (const char* ending : {".csv", ".json"}) {
    REQUIRE(QMetaObject::invokeMethod(w.window, "exportTo", Q_ARG(QVariant, base + ending)));
    CHECK(w.session.notice().contains(ending));
    CHECK(QFile(base + ending).size() > 20);
    QFile::remove(base + ending);
  }
  w.session.setTab("graph");
  REQUIRE(
      QMetaObject::invokeMethod(w.window, "exportTo", Q_ARG(QVariant, QVariant("/no/such/folder/x.svg"))));
  CHECK(w.session.notice().contains("/no/such/folder"));
}
