// What somebody met who followed the walks of docs/guide word by word: the keyboard asks where one looks, nothing
// lies over what one reads, a box of many answers for each of its nodes.
#include "tests/viz/window_support.h"

#include <QFile>
#include <QQmlExpression>
#include <QTemporaryDir>

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// Of the trace: first pass and step whose picture `wanted` takes.
template <typename F>
bool goToPicture(Window& w, int64_t stride, F wanted) {
  Trace& trace = readerOf(w.session);
  for (const ScopeInfo& scope : trace.scopes())
    for (const PassInfo& pass : std::vector<PassInfo>(trace.passes(scope.id)))
      for (int64_t step = 1; step <= pass.steps; step += stride) {
        w.session.goTo(pass.id, step);
        w.settle();
        if (wanted(*w.session.graph()->picture())) return true;
      }
  return false;
}

} // namespace

TEST_CASE("walk: a bookmark asks for its note, and the same state is kept once") {
  const QString trace = compiledTrace();
  QFile::remove(Bookmarks::fileFor(trace));
  Window w(trace);
  w.key(Qt::Key_D, kCtrl);
  REQUIRE(waitFor([&] {
    const QQuickItem* field = w.window->activeFocusItem();
    return field && field->objectName() == "note-0";
  }));
  const qlonglong step = w.session.step();
  w.type("loop j");
  w.key(Qt::Key_Return);
  Bookmarks& marks = *w.tools.bookmarks();
  CHECK(marks.data(marks.index(0), Bookmarks::NoteRole) == "loop j");
  CHECK(w.session.step() == step); // letters were typed, not taken for keys
  CHECK(w.canvas->hasActiveFocus());
  w.key(Qt::Key_D, kCtrl);
  CHECK(marks.count() == 1);
  // A note longer than its field is read from its beginning once it is written.
  w.type("a sentence that is longer than the list of bookmarks is wide");
  w.key(Qt::Key_Return);
  w.settle();
  QQuickItem* note = w.item("note-0");
  CHECK(note->property("contentWidth").toDouble() > note->width());
  CHECK(QQmlExpression(qmlContext(note), note, "positionAt(0, 5)").evaluate().toInt() == 0);
  marks.setNote(0, "loop j");
  w.key(Qt::Key_D, kCtrl);
  w.key(Qt::Key_Escape);
  CHECK(marks.data(marks.index(0), Bookmarks::NoteRole) == "loop j");
  QFile::remove(Bookmarks::fileFor(trace));
}

TEST_CASE("walk: SQL is typed and run without the mouse") {
  Window w(compiledTrace());
  w.key(Qt::Key_9, kCtrl);
  REQUIRE(w.session.tab() == "sql");
  CHECK(w.item("sqlText")->hasActiveFocus());
  w.key(Qt::Key_Return, kCtrl);
  CHECK(waitFor([&] { return w.tools.sql()->rowCount() > 0; }));
  w.key(Qt::Key_1, kCtrl);
  CHECK(w.canvas->hasActiveFocus());
}

TEST_CASE("walk: Escape ends a search and gives the view back; a node that was gone to stays in view") {
  Window w(compiledTrace());
  w.window->resize(1000, 640);
  w.session.setStepAlone(true);
  w.settle();
  REQUIRE(goToPicture(w, 20, [&](const Picture&) { return w.session.graph()->elsewhere() > 0; }));
  w.key(Qt::Key_Slash);
  CHECK_FALSE(w.session.stepAlone()); // all of the pass is searched
  w.type("ADD");
  w.key(Qt::Key_Escape);
  CHECK(w.session.stepAlone());
  w.key(Qt::Key_Slash);
  w.type("ADD");
  w.key(Qt::Key_Return);
  w.key(Qt::Key_Escape);
  CHECK_FALSE(w.session.stepAlone());
}

TEST_CASE("walk: a box of lanes is followed by what touches any of them") {
  Window w(compiledTrace());
  w.window->resize(1440, 900);
  w.session.setStepAlone(true);
  w.settle();
  bool stepped = false;
  REQUIRE(goToPicture(w, 3, [&](const Picture& p) {
    for (const PictureNode& n : p.nodes) {
      if (n.members < 4 || n.mark == Mark::Removed) continue;
      w.session.setNode(n.id);
      w.settle();
      const qlonglong here = w.session.step(), count = w.session.stepCount();
      w.key(Qt::Key_Right, Qt::ShiftModifier);
      stepped = w.session.step() > here && w.session.stepCount() == count;
      return stepped;
    }
    return false;
  }));
  CHECK(stepped);
}

TEST_CASE("walk: the edges of boxes turn at right angles as all others do") {
  Window w(compiledTrace());
  w.window->resize(1440, 900);
  w.session.setStepAlone(true);
  w.settle();
  size_t ofBoxes = 0, bent = 0;
  goToPicture(w, 3, [&](const Picture& p) {
    for (const PictureEdge& e : p.edges)
      if ((p.nodes[e.from].members || p.nodes[e.to].members) && !e.quiet && e.mark != Mark::Removed)
        ++ofBoxes, bent += !e.bends.empty();
    return ofBoxes > 40;
  });
  REQUIRE(ofBoxes > 0);
  CHECK(bent * 10 >= ofBoxes * 9);
}

TEST_CASE("walk: the map stands beside what it is the map of, and no emptiness beside that") {
  Window w(compiledTrace());
  w.window->resize(1440, 900);
  w.session.setStepAlone(false);
  w.settle();
  bool mapped = false;
  goToPicture(w, 40, [&](const Picture& p) {
    if (p.width * 0.62 < w.canvas->width() && p.height * 0.62 < w.canvas->height()) return false;
    QQuickItem* map = w.item("map");
    CHECK(map->isVisible());
    CHECK(w.canvas->mapRectToScene(w.canvas->boundingRect()).right() <=
          map->mapRectToScene(map->boundingRect()).left());
    const QRectF graph = w.canvas->bounds(), view = w.canvas->viewRect();
    if (graph.height() > view.height()) {
      CHECK(view.top() >= graph.top() - 60 / w.canvas->zoom());
      CHECK(view.bottom() <= graph.bottom() + 60 / w.canvas->zoom());
    }
    mapped = true;
    return true;
  });
  CHECK(mapped);
}

TEST_CASE("walk: two states open where they differ, to be read; equal texts of graphs are equal") {
  Window w(compiledTrace());
  w.window->resize(1440, 900);
  w.session.setTab("compare");
  w.tools.compare()->comparePass();
  REQUIRE(waitFor([&] { return !w.tools.compare()->summary().isEmpty(); }));
  w.settle();
  auto* canvas = w.window->findChild<GraphCanvas*>("compareCanvas");
  REQUIRE(canvas);
  REQUIRE(waitFor([&] { return canvas->settled(); }));
  CHECK(canvas->zoom() >= 0.6);
  // Keys mean the graph in front, not the one of the other tab.
  const double near = canvas->zoom(), behind = w.canvas->zoom();
  w.key(Qt::Key_Minus);
  CHECK(canvas->zoom() < near);
  w.key(Qt::Key_Space);
  CHECK(canvas->viewRect().contains(canvas->bounds()));
  CHECK(w.canvas->zoom() == behind);
  // The same place in a copy of the trace: other numbers, the same texts.
  QTemporaryDir folder;
  const QString copy = folder.filePath("copy.uoptrace");
  REQUIRE(QFile::copy(w.session.path(), copy));
  w.tools.compare()->setWhat("tree");
  w.tools.compare()->openLeft(copy);
  REQUIRE(waitFor([&] { return w.tools.compare()->summary() == "The texts are the same."; }));
}

TEST_CASE("walk: the window at every size between a small laptop and a large screen") {
  const KeptTrace kept(3);
  Window w(kept.path);
  w.session.setStepAlone(true);
  for (const QSize size : {QSize(900, 600), QSize(1440, 900), QSize(2560, 1440), QSize(3840, 2160)}) {
    w.window->resize(size);
    REQUIRE(waitFor([&] { return w.window->size() == size; }));
    w.settle();
    for (const char* theme : {"dark", "light"}) {
      w.theme.setName(theme);
      w.settle();
      QTest::qWait(60);
      checkGolden(*w.window, QStringLiteral("size-%1-%2").arg(size.width()).arg(QLatin1String(theme)));
    }
    w.theme.setName("dark");
  }
}
