// Actions on the graph and the tools, by keys and by mouse, and pictures of the main views.
#include "tests/viz/window_support.h"

#include <QFile>

using namespace uopscope;
using namespace uopscope::test;

namespace {

void selectSome(Window& w, const char* op) {
  for (const PictureNode& n : w.session.graph()->picture()->nodes)
    if (n.op == op && n.id < 0x80000000) w.session.setNode(n.id);
  REQUIRE(w.session.node() >= 0);
  w.settle();
}

} // namespace

TEST_CASE("features: hide, neighbourhood and show all by keys; the chips tell") {
  Window w(compiledTrace());
  const int all = w.session.graph()->nodeCount();
  selectSome(w, "INDEX");
  w.key(Qt::Key_U);
  CHECK(w.session.graph()->hiddenNodes() > 0);
  w.key(Qt::Key_A);
  CHECK(w.session.graph()->nodeCount() == all);
  selectSome(w, "INDEX");
  w.key(Qt::Key_S);
  CHECK(w.session.graph()->hiddenNodes() == 1);
  w.key(Qt::Key_A);
  w.key(Qt::Key_G);
  CHECK(w.tools.graph()->groupBy() == "kernel");
}

TEST_CASE("features: colours are chosen from the menu, and the legend follows") {
  Window w(compiledTrace());
  w.click(w.item("colourPicker"));
  CHECK(w.popupOpen("colourPickerMenu"));
  QQuickItem* entry = below(w.window->contentItem(), "colourPicker-dtype");
  REQUIRE(entry);
  w.click(entry);
  CHECK(w.session.graph()->colourBy() == "dtype");
  CHECK_FALSE(w.session.graph()->legend().isEmpty());
}

TEST_CASE("features: a condition is typed and run to") {
  Window w(compiledTrace());
  w.key(Qt::Key_G, Qt::ControlModifier);
  w.type("op:ADD");
  CHECK(w.tools.conditions()->text() == "op:ADD");
  CHECK(w.tools.conditions()->count() > 0);
  const StepId before = w.session.traceStep();
  w.key(Qt::Key_Return);
  CHECK(w.session.traceStep() != before);
  w.key(Qt::Key_Escape);
  const StepId here = w.session.traceStep();
  w.key(Qt::Key_F5);
  CHECK(w.session.traceStep() > here);
  w.key(Qt::Key_F5, Qt::ShiftModifier);
  CHECK(w.session.traceStep() == here);
}

TEST_CASE("features: why, check and compare by keys") {
  Window w(compiledTrace());
  w.key(Qt::Key_V);
  CHECK_FALSE(w.tools.checker()->answer().isEmpty());
  selectSome(w, "INDEX");
  w.key(Qt::Key_W);
  CHECK(w.tools.why()->open());
  CHECK(w.item("whyPane")->isVisible());
  CHECK(w.tools.why()->count() > 0);
  w.key(Qt::Key_W);
  CHECK_FALSE(w.item("whyPane")->isVisible());
  w.key(Qt::Key_X);
  w.key(Qt::Key_End);
  w.key(Qt::Key_X, Qt::ShiftModifier);
  CHECK(w.session.tab() == "compare");
  CHECK_FALSE(w.tools.compare()->summary().isEmpty());
}

TEST_CASE("features: a query is typed, run with Ctrl Enter, and a row leads to its step") {
  Window w(compiledTrace());
  w.key(Qt::Key_9, Qt::ControlModifier);
  REQUIRE(w.session.tab() == "sql");
  QQuickItem* text = w.item("sqlText");
  text->forceActiveFocus();
  w.key(Qt::Key_A, Qt::ControlModifier);
  w.type("SELECT id AS step FROM step");
  w.key(Qt::Key_Return, Qt::ControlModifier);
  CHECK(w.tools.sql()->problem().isEmpty());
  CHECK(w.tools.sql()->rowCount() > 10);
  CHECK(w.tools.sql()->follow(4, 0));
  w.settle();
  CHECK(w.session.tab() == "graph");
  CHECK(w.session.traceStep() == 5);
}

TEST_CASE("features: a box of the flame graph zooms, a double click goes there") {
  Window w(compiledTrace());
  w.key(Qt::Key_7, Qt::ControlModifier);
  REQUIRE(w.tools.profile()->ready());
  QQuickItem* view = w.item("profileView");
  QPointF at;
  REQUIRE(QMetaObject::invokeMethod(view, "middleOf", Q_RETURN_ARG(QPointF, at), Q_ARG(int, 1)));
  REQUIRE(at.x() >= 0);
  QTest::mouseClick(w.window, Qt::LeftButton, {}, view->mapToScene(at).toPoint());
  w.settle();
  CHECK(w.tools.profile()->root() == 1);
}

TEST_CASE("features: a node is found anywhere in the trace") {
  Window w(expressionTrace());
  w.key(Qt::Key_P, Qt::ControlModifier);
  w.type("/xor");
  REQUIRE(waitFor([&] { return w.session.jump()->palette()->count() > 0; }));
  CHECK(w.session.jump()->palette()->entry(0)["text"].toString().startsWith("XOR"));
  w.key(Qt::Key_Return);
  REQUIRE(waitFor([&] { return w.session.passName() == "nest"; }));
  w.settle();
  CHECK(w.session.tab() == "graph");
  REQUIRE(w.session.node() >= 0);
  CHECK(w.session.graph()->picture()->find(w.session.node())->op == "XOR");
  w.key(Qt::Key_P, Qt::ControlModifier);
  w.type("/nothing like it");
  CHECK(w.session.jump()->palette()->count() == 0);
}

TEST_CASE("features: a key is changed on the sheet and works at once") {
  Window w(compiledTrace());
  REQUIRE(w.session.preferences()->setKeys("legend", "Ctrl+Shift+K"));
  w.settle();
  CHECK_FALSE(below(w.window->contentItem(), "canvas")->parentItem()->property("showLegend").toBool());
  w.key(Qt::Key_K, Qt::ControlModifier | Qt::ShiftModifier);
  CHECK(below(w.window->contentItem(), "canvas")->parentItem()->property("showLegend").toBool());
}

TEST_CASE("features: bookmarks by key, presenter by key") {
  const QString trace = compiledTrace();
  QFile::remove(Bookmarks::fileFor(trace));
  Window w(trace);
  w.key(Qt::Key_D, Qt::ControlModifier);
  CHECK(w.tools.bookmarks()->count() == 1);
  w.key(Qt::Key_Escape); // it asks for a note
  w.key(Qt::Key_Escape);
  QFile::remove(Bookmarks::fileFor(trace));
  w.key(Qt::Key_F9);
  CHECK(w.theme.presenting());
  CHECK(w.theme.textScale() >= 1.5);
  w.key(Qt::Key_F9);
  CHECK(w.theme.textScale() == 1);
  w.key(Qt::Key_T, Qt::ShiftModifier);
  CHECK(w.theme.name() == "contrast");
}

TEST_CASE("features: graphs are written as SVG and PNG, tables as CSV and JSON") {
  Window w(compiledTrace());
  const QString base = compiledTrace() + ".export";
  for (const char* ending : {".svg", ".png"}) {
    CHECK(w.canvas->exportTo(base + ending).isEmpty());
    CHECK(QFile(base + ending).size() > 1000);
    QFile::remove(base + ending);
  }
  CHECK(w.canvas->exportTo(base + ".doc").contains(".svg"));
  w.session.setTab("stats");
  w.settle();
  for (const char* ending : {".csv", ".json"}) {
    CHECK(w.session.stats()->exportTo(base + ending).isEmpty());
    CHECK(QFile(base + ending).size() > 100);
    QFile::remove(base + ending);
  }
}

TEST_CASE("features: the main views look as they did, in both themes") {
  Window w(expressionTrace());
  w.window->resize(1200, 760);
  for (const char* theme : {"dark", "light"}) {
    w.theme.setName(theme);
    for (const char* tab : {"graph", "source", "stats", "sql"}) {
      w.session.setTab(tab);
      w.settle();
      QTest::qWait(60);
      checkGolden(*w.window, QLatin1String(tab) + QLatin1Char('-') + QLatin1String(theme));
    }
  }
}
