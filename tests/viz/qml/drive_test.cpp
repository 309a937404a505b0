// Features that features_test.cpp leaves out, by keys and by mouse: links, the timeline, linked panes, pins,
// marks, two traces, dropped files.
#include "tests/viz/window_support.h"

#include <QFile>
#include <QMimeData>

using namespace uopscope;
using namespace uopscope::test;

TEST_CASE("drive: a link is typed and leads there, a wrong one is told and the popup stays") {
  Window w(compiledTrace());
  w.key(Qt::Key_End);
  const QString there = w.session.link();
  const qlonglong step = w.session.step();
  w.key(Qt::Key_Home);
  w.key(Qt::Key_L, Qt::ControlModifier | Qt::ShiftModifier);
  REQUIRE(w.popupOpen("linkPopup"));
  w.item("linkField")->setProperty("text", "kernel=nothing-like-it");
  w.key(Qt::Key_Return);
  CHECK(w.popupOpen("linkPopup"));
  CHECK_FALSE(w.session.notice().isEmpty());
  w.item("linkField")->setProperty("text", there);
  w.key(Qt::Key_Return);
  CHECK_FALSE(w.popupOpen("linkPopup"));
  CHECK(w.session.step() == step);
}

TEST_CASE("drive: a rule is found by name and leads to a step of it") {
  Window w(expressionTrace());
  const QString rule = w.session.stepInfo()["rule"].toString();
  REQUIRE_FALSE(rule.isEmpty());
  w.key(Qt::Key_Home);
  w.key(Qt::Key_P, Qt::ControlModifier);
  w.type(rule);
  int row = -1;
  for (int i = 0; i < w.session.jump()->palette()->count() && row < 0; ++i) {
    const QVariantMap e = w.session.jump()->palette()->entry(i);
    if (e["kind"].toString() == "rule" && e["text"].toString() == rule) row = i;
  }
  REQUIRE(row >= 0);
  for (int i = 0; i < row; ++i) w.key(Qt::Key_Down);
  w.key(Qt::Key_Return);
  CHECK(w.session.stepInfo()["rule"].toString() == rule);
}

TEST_CASE("drive: a stretch of the timeline is selected with its totals, the wheel zooms") {
  Window w(compiledTrace());
  w.key(Qt::Key_8, Qt::ControlModifier);
  REQUIRE(waitFor([&] { return w.tools.timeline()->ready(); }));
  QQuickItem* view = w.item("timelineView");
  const QPoint left = view->mapToScene(QPointF(view->width() * 0.2, 60)).toPoint();
  const QPoint right = view->mapToScene(QPointF(view->width() * 0.95, 60)).toPoint();
  w.drag(left, right, Qt::ShiftModifier);
  CHECK_FALSE(w.tools.timeline()->totals().isEmpty());
  CHECK(w.item("timelineTotals")->isVisible());
  const double before = w.tools.timeline()->to() - w.tools.timeline()->from();
  QWheelEvent wheel(left, w.window->mapToGlobal(left), {}, {0, 240}, Qt::NoButton, Qt::NoModifier,
                    Qt::NoScrollPhase, false);
  QGuiApplication::sendEvent(w.window, &wheel);
  w.settle();
  CHECK(w.tools.timeline()->to() - w.tools.timeline()->from() < before);
}

TEST_CASE(
    "drive: the timeline is moved and zoomed by keys once it was clicked, and the graph does not move") {
  Window w(compiledTrace());
  const qlonglong step = w.session.step();
  w.key(Qt::Key_8, Qt::ControlModifier);
  REQUIRE(waitFor([&] { return w.tools.timeline()->ready(); }));
  TimelineModel& timeline = *w.tools.timeline();
  w.click(w.item("timelineView"));
  const auto wide = [&] { return timeline.to() - timeline.from(); };
  const auto same = [](double a, double b) { return std::abs(a - b) < 1e-6 * (std::abs(a) + std::abs(b)); };
  for (const auto& [nearer, farther, left, right] :
       {std::tuple(Qt::Key_W, Qt::Key_S, Qt::Key_A, Qt::Key_D),
        {Qt::Key_Up, Qt::Key_Down, Qt::Key_Left, Qt::Key_Right}}) {
    const double all = wide();
    w.key(nearer);
    CHECK(same(wide(), all * 0.7));
    const double from = timeline.from(), now = wide();
    w.key(right);
    CHECK(same(timeline.from(), from + now * 0.2));
    w.key(left);
    CHECK(same(timeline.from(), from));
    w.key(farther);
    CHECK(same(wide(), all));
  }
  CHECK(w.session.step() == step);
  CHECK_FALSE(w.tools.why()->open());
}

TEST_CASE("drive: a line of the kernel lights up its UOps, and a UOp its line") {
  Window w(compiledTrace());
  w.key(Qt::Key_3, Qt::ControlModifier);
  REQUIRE(waitFor([&] { return w.tools.linked()->source()->count() > 0; }));
  int line = -1;
  for (int i = 0; i < w.tools.linked()->source()->count(); ++i)
    if (w.tools.linked()->source()->lines()[static_cast<size_t>(i)].known) line = i;
  REQUIRE(line >= 0);
  w.tools.linked()->select("source", line);
  w.settle();
  CHECK(w.tools.linked()->source()->lit(line));
  REQUIRE(w.tools.linked()->uops()->litCount() > 0);
  const int uop = w.tools.linked()->uops()->firstLit();
  QQuickItem* list = w.item("linked-uops");
  QMetaObject::invokeMethod(list, "positionViewAtIndex", Q_ARG(int, uop), Q_ARG(int, 0));
  w.settle();
  const double row = list->property("contentHeight").toDouble() / w.tools.linked()->uops()->count();
  const QPointF at(60, (uop + 0.5) * row - list->property("contentY").toDouble());
  QTest::mouseClick(w.window, Qt::LeftButton, {}, list->mapToScene(at).toPoint());
  w.settle();
  CHECK(w.tools.linked()->uops()->lit(uop));
  CHECK(w.tools.linked()->source()->litCount() > 0);
  // Operands belong to many lines: a line lights its own instructions, not all that share its 0.0.
  for (int i = 0; i < w.tools.linked()->source()->count(); ++i) {
    if (!w.tools.linked()->source()->lines()[static_cast<size_t>(i)].known) continue;
    w.tools.linked()->select("source", i);
    int numbers = 0;
    for (int u = 0; u < w.tools.linked()->uops()->count(); ++u)
      numbers += w.tools.linked()->uops()->lit(u) &&
                 w.tools.linked()->uops()->lines()[static_cast<size_t>(u)].text.startsWith("CONST");
    CHECK((numbers == 0 || numbers == w.tools.linked()->uops()->litCount()));
  }
}

TEST_CASE("drive: a node dragged with Shift stays where it was put, at the next step too") {
  Window w(compiledTrace());
  w.canvas->setFollow(false);
  w.key(Qt::Key_Home);
  w.key(Qt::Key_Space);
  const PictureNode n = w.session.graph()->picture()->nodes.back();
  const QPoint from = w.canvas->mapToScene(w.canvas->nodeOnScreen(n.id).center()).toPoint();
  w.drag(from, from + QPoint(60, -30), Qt::ShiftModifier);
  const PictureNode* put = w.session.graph()->picture()->find(n.id);
  REQUIRE(put);
  CHECK(put->pinned);
  CHECK(put->x > n.x);
  const float x = put->x;
  const uint32_t slot = put->slot;
  w.key(Qt::Key_Right);
  for (const PictureNode& now : w.session.graph()->picture()->nodes)
    if (now.slot == slot) CHECK(now.x == x);
}

TEST_CASE("drive: a mark is listed, named, and leads back") {
  QFile::remove(Bookmarks::fileFor(compiledTrace()));
  Window w(compiledTrace());
  w.key(Qt::Key_End);
  const qlonglong step = w.session.step();
  w.key(Qt::Key_D, Qt::ControlModifier);
  w.key(Qt::Key_Home);
  w.item("stepsOrMarks");
  QQuickItem* marks = w.item("marks");
  w.tools.bookmarks()->setNote(0, "the end");
  w.tools.bookmarks()->goTo(0);
  w.settle();
  CHECK(w.session.step() == step);
  CHECK(marks->property("count").toInt() == 1);
  Window again(compiledTrace());
  CHECK(again.tools.bookmarks()->count() == 1);
  QFile::remove(Bookmarks::fileFor(compiledTrace()));
}

TEST_CASE("drive: the same place of another trace is compared, as a graph and as text") {
  Window w(compiledTrace());
  w.tools.compare()->openLeft(compiledTrace());
  w.session.setTab("compare");
  REQUIRE(waitFor([&] { return !w.tools.compare()->summary().isEmpty(); }));
  CHECK(w.tools.compare()->problem().isEmpty());
  CHECK(w.item("compareCanvas")->isVisible());
  w.tools.compare()->setWhat("source");
  w.settle();
  CHECK(w.tools.compare()->problem().isEmpty());
}

TEST_CASE("drive: a trace dropped on the window is opened") {
  Window w;
  QMimeData files;
  files.setUrls({QUrl::fromLocalFile(expressionTrace())});
  const QPoint at(400, 300);
  QDragEnterEvent enter(at, Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(w.window, &enter);
  QDropEvent drop(at, Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(w.window, &drop);
  w.settle();
  CHECK(w.session.state() == "ready");
  CHECK(w.session.path() == expressionTrace());
}

TEST_CASE("drive: an added node fades in, and the window is still when it has") {
  Window w(compiledTrace());
  w.key(Qt::Key_Home);
  w.theme.setAnimated(true);
  QTest::keyClick(w.window, Qt::Key_Right);
  w.settle();
  CHECK(w.session.step() == 1);
  const QImage faded = w.window->grabWindow();
  w.theme.setAnimated(false);
  w.key(Qt::Key_Left);
  w.key(Qt::Key_Right);
  CHECK(difference(faded, w.window->grabWindow()) < 3);
}

TEST_CASE("drive: changes of several steps at once never draw a ghost over a node") {
  Window w(compiledTrace());
  w.key(Qt::Key_End);
  for (int k = 0; k < 12; ++k) w.key(Qt::Key_Right, Qt::ControlModifier | Qt::ShiftModifier);
  REQUIRE(w.session.interval() > 10);
  const Picture& p = *w.session.graph()->picture();
  for (const PictureNode& a : p.nodes)
    for (const PictureNode& b : p.nodes)
      if (&a != &b && a.y == b.y && a.mark == Mark::Removed)
        CHECK(std::abs(a.x - b.x) >= (a.width + b.width) / 2 - 0.5f);
}
