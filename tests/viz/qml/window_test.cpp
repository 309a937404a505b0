// Moves and views, by keys and by mouse.
#include "tests/viz/window_support.h"

using namespace uopscope;
using namespace uopscope::test;

TEST_CASE("window: the first page has a way in") {
  Window w;
  CHECK(w.session.state() == "empty");
  CHECK(w.item("welcomeOpen")->isVisible());
}

TEST_CASE("window: keys step through rewrites and passes") {
  Window w(compiledTrace());
  REQUIRE(w.session.state() == "ready");
  REQUIRE(w.session.step() == 1);
  const qlonglong pass = w.session.pass();
  w.key(Qt::Key_Left);
  CHECK(w.session.step() == 0);
  w.key(Qt::Key_Right);
  CHECK(w.session.step() == 1);
  w.key(Qt::Key_End);
  CHECK(w.session.step() == w.session.stepCount());
  w.key(Qt::Key_Home);
  CHECK(w.session.step() == 0);
  w.key(Qt::Key_Down);
  CHECK(w.session.pass() != pass);
  w.key(Qt::Key_Up);
  CHECK(w.session.pass() == pass);
  w.key(Qt::Key_Right, Qt::ControlModifier);
  CHECK(w.session.pass() != pass);
  w.key(Qt::Key_Left, Qt::AltModifier);
  CHECK(w.session.pass() == pass);
  w.key(Qt::Key_Right, Qt::ControlModifier | Qt::ShiftModifier);
  CHECK(w.session.interval() == 2);
}

TEST_CASE("window: buttons and the slider step as well") {
  Window w(compiledTrace());
  w.click(w.item("previousStep"));
  CHECK(w.session.step() == 0);
  w.click(w.item("nextStep"));
  CHECK(w.session.step() == 1);
  QQuickItem* slider = w.item("slider");
  QTest::mouseClick(w.window, Qt::LeftButton, {},
                    slider->mapToScene(QPointF(slider->width() - 1, slider->height() / 2)).toPoint());
  w.settle();
  CHECK(w.session.step() == w.session.stepCount());
  QTest::mouseClick(w.window, Qt::LeftButton, {},
                    slider->mapToScene(QPointF(1, slider->height() / 2)).toPoint());
  w.settle();
  CHECK(w.session.step() == 0);
}

TEST_CASE("window: a click selects a node, another elsewhere lets go, Escape too") {
  Window w(compiledTrace());
  w.key(Qt::Key_Space);
  const PicturePtr p = w.session.graph()->picture();
  const PictureNode& n = p->nodes.back();
  const QRectF r = w.canvas->nodeOnScreen(n.id);
  const QPoint at = w.canvas->mapToScene(r.center()).toPoint();
  QTest::mouseMove(w.window, at);
  w.settle();
  CHECK(w.canvas->hovered() == n.id);
  QTest::mouseClick(w.window, Qt::LeftButton, {}, at);
  w.settle();
  CHECK(w.session.node() == n.id);
  CHECK(w.session.nodeInfo()["op"].toString() == QString::fromStdString(n.op));
  w.key(Qt::Key_Escape);
  CHECK(w.session.node() == -1);
}

TEST_CASE("window: the wheel zooms at the pointer, dragging pans, Space fits") {
  Window w(compiledTrace());
  w.key(Qt::Key_Space);
  const double before = w.canvas->zoom();
  const QRectF fitted = w.canvas->viewRect();
  const QPointF at(w.canvas->width() / 3, w.canvas->height() / 3);
  const QPointF scene = w.canvas->mapToScene(at);
  auto under = [&] { return w.canvas->viewRect().topLeft() + at / w.canvas->zoom(); };
  const QPointF graph = under();
  QWheelEvent wheel(scene, w.window->mapToGlobal(scene), {}, {0, 240}, Qt::NoButton, Qt::NoModifier,
                    Qt::NoScrollPhase, false);
  QGuiApplication::sendEvent(w.window, &wheel);
  w.settle();
  CHECK(w.canvas->zoom() > before);
  CHECK((under() - graph).manhattanLength() < 1);
  const QPoint from = w.canvas->mapToScene(QPointF(6, w.canvas->height() / 2)).toPoint();
  const QRectF view = w.canvas->viewRect();
  QTest::mousePress(w.window, Qt::LeftButton, {}, from);
  QTest::mouseMove(w.window, from + QPoint(40, 10));
  QTest::mouseMove(w.window, from + QPoint(80, 20));
  QTest::mouseRelease(w.window, Qt::LeftButton, {}, from + QPoint(80, 20));
  w.settle();
  CHECK(w.canvas->viewRect().x() < view.x());
  w.key(Qt::Key_Space);
  CHECK(std::abs(w.canvas->viewRect().x() - fitted.x()) < 1);
}

// Relative to the centre of the canvas: a line about the step may make the canvas lower, and its centre stays
// in view.
TEST_CASE("window: stepping moves no node on the screen") {
  Window w(compiledTrace());
  w.session.setStepAlone(false); // in the layout of the pass
  w.settle();
  w.canvas->setFollow(false);
  w.key(Qt::Key_Home);
  w.key(Qt::Key_Space);
  std::map<int64_t, QPointF> where;
  for (int k = 0; k < 12 && w.session.step() < w.session.stepCount(); ++k) {
    const QPointF centre = w.canvas->mapToScene(QPointF(w.canvas->width(), w.canvas->height()) / 2);
    for (const PictureNode& n : w.session.graph()->picture()->nodes) {
      const QPointF at = w.canvas->nodeOnScreen(n.id).center() - centre;
      const auto [it, fresh] = where.emplace(n.id, at);
      if (!fresh) CHECK((it->second - at).manhattanLength() < 0.5);
    }
    w.key(Qt::Key_Right);
  }
}

TEST_CASE("window: search finds, counts and goes round") {
  Window w(compiledTrace());
  w.key(Qt::Key_Slash);
  w.type(QString::fromStdString(w.session.graph()->picture()->nodes.back().op).toLower());
  CHECK(w.session.graph()->foundCount() > 0);
  w.key(Qt::Key_Return);
  CHECK(w.session.graph()->foundIndex() == 0);
  w.key(Qt::Key_Return);
  CHECK(w.session.graph()->foundIndex() == (w.session.graph()->foundCount() > 1 ? 1 : 0));
  w.key(Qt::Key_Escape);
  CHECK(w.session.graph()->foundCount() == 0);
  const qlonglong step = w.session.step();
  w.key(Qt::Key_K);
  CHECK(w.session.step() == step - 1); // keys belong to the window again
}

TEST_CASE("window: tabs by key and by click") {
  Window w(expressionTrace());
  for (const auto& [key, tab] :
       {std::pair(Qt::Key_2, "source"), {Qt::Key_6, "stats"}, {Qt::Key_4, "script"}, {Qt::Key_1, "graph"}}) {
    w.key(key, Qt::ControlModifier);
    CHECK(w.session.tab() == tab);
  }
  w.click(w.item("tab-stats"));
  CHECK(w.session.tab() == "stats");
  CHECK(w.session.stats()->total() > 0);
  w.click(w.item("tab-source"));
  CHECK(w.session.code()->lineCount() == 3);
}

TEST_CASE("window: the palette jumps to a pass and runs commands") {
  Window w(compiledTrace());
  w.key(Qt::Key_P, Qt::ControlModifier);
  CHECK(w.popupOpen("palette"));
  w.type("devec");
  w.key(Qt::Key_Return);
  CHECK_FALSE(w.popupOpen("palette"));
  CHECK(w.session.passName() == "devectorize");
  w.key(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
  w.type("match stat");
  w.key(Qt::Key_Return);
  CHECK(w.session.tab() == "stats");
}

TEST_CASE("window: the sheet of keys opens and closes") {
  Window w(compiledTrace());
  w.key(Qt::Key_F1);
  CHECK(w.popupOpen("keysSheet"));
  w.key(Qt::Key_Escape);
  CHECK_FALSE(w.popupOpen("keysSheet"));
}

TEST_CASE("window: typing in the filter does not step") {
  Window w(compiledTrace());
  const qlonglong step = w.session.step();
  w.key(Qt::Key_F, Qt::ControlModifier | Qt::ShiftModifier);
  w.type("kj expander");
  CHECK(w.session.step() == step);
  CHECK(w.session.tree()->filter() == "kj expander");
}

TEST_CASE("window: dark and light differ, text grows, and the graph stays inside its pane") {
  Window w(compiledTrace());
  const QImage dark = w.window->grabWindow();
  w.key(Qt::Key_T);
  CHECK_FALSE(w.theme.dark());
  const QImage light = w.window->grabWindow();
  CHECK(dark.pixelColor(5, 300).lightness() < 80);
  CHECK(light.pixelColor(5, 300).lightness() > 200);
  CHECK(light.size() == dark.size());
  // Zoomed far in, the canvas must not paint over its neighbours.
  auto strip = [&](const QImage& i) {
    return i.copy(0, 60, static_cast<int>(w.canvas->mapToScene({0, 0}).x()) - 8, 200);
  };
  w.key(Qt::Key_Space);
  const QImage before = w.window->grabWindow();
  for (int i = 0; i < 8; ++i) w.canvas->zoomBy(1.4);
  w.settle();
  CHECK(strip(w.window->grabWindow()) == strip(before));
  const double bar = w.item("slider")->height();
  w.key(Qt::Key_Plus, Qt::ControlModifier);
  CHECK(w.theme.textScale() > 1);
  CHECK(w.item("slider")->height() > bar); // all sizes follow, not only texts
  w.key(Qt::Key_0, Qt::ControlModifier);
  CHECK(w.theme.textScale() == 1);
}

TEST_CASE("window: an error is shown, and Open leads on") {
  Window w("/no/such/file.uoptrace");
  CHECK(w.session.state() == "error");
  CHECK(w.item("errorText")->property("text").toString().contains("/no/such/file.uoptrace"));
}
