// A person's settings survive a restart: theme, text size, the window's place, splitters, recent files, keys
// and queries. Every test keeps its settings in a temporary folder.
#include "tests/viz/window_support.h"

#include <QSettings>

using namespace uopscope;
using namespace uopscope::test;

namespace {

void forget() {
  application();
  QSettings(QStringLiteral("uopscope"), QStringLiteral("uopscope")).clear();
}

// Presses and moves the handle between two panes.
void dragHandle(Window& w, QQuickItem* pane, double by) {
  const QPoint at = pane->mapToScene(QPointF(pane->width() + 2, pane->height() / 2)).toPoint();
  w.drag(at, at + QPoint(static_cast<int>(by), 0));
}

} // namespace

TEST_CASE("settings: theme, text size, recent files, keys and queries survive a restart") {
  forget();
  {
    Window w(compiledTrace(), true);
    w.key(Qt::Key_T);
    w.key(Qt::Key_Plus, Qt::ControlModifier);
    REQUIRE(w.session.preferences()->setKeys("legend", "Ctrl+Shift+K"));
    w.tools.sql()->setText("SELECT 42 AS answer");
    w.tools.sql()->keep("the answer");
    w.key(Qt::Key_F9); // the large text of a presentation is no setting
  }
  Window w({}, true);
  CHECK(w.theme.name() == "light");
  CHECK(w.theme.textScale() == doctest::Approx(1.1));
  CHECK(w.session.preferences()->recent() == QStringList{compiledTrace()});
  bool kept = false;
  for (const QVariant& q : w.tools.sql()->saved())
    kept |= q.toMap()["name"].toString() == "the answer" && q.toMap()["own"].toBool();
  CHECK(kept);
  w.click(w.item("recent-" + QFileInfo(compiledTrace()).fileName()));
  REQUIRE(w.session.state() == "ready");
  w.key(Qt::Key_K, Qt::ControlModifier | Qt::ShiftModifier);
  CHECK(w.canvas->parentItem()->property("showLegend").toBool());
  w.tools.sql()->forget("the answer");
  Window again({}, true);
  for (const QVariant& q : again.tools.sql()->saved()) CHECK(q.toMap()["name"].toString() != "the answer");
  forget();
}

TEST_CASE("settings: a layout by Graphviz is chosen by key or menu, keeps places, and survives a restart") {
  forget();
  {
    Window w(compiledTrace(), true);
    CHECK(w.session.layoutBy() == "layered");
    w.key(Qt::Key_R, Qt::ShiftModifier);
    CHECK(w.session.layoutBy() == "dot");
    w.key(Qt::Key_Home);
    PicturePtr p = w.session.graph()->picture();
    CHECK(p->curved);
    CHECK(w.session.graph()->layoutNote().isEmpty());
    REQUIRE(p->nodes.size() > 5);
    size_t curved = 0;
    for (const PictureEdge& e : p->edges) {
      if (e.bends.empty()) continue;
      ++curved;
      CHECK(e.bends.size() % 3 == 1);
      CHECK(p->nodes[e.from].y < p->nodes[e.to].y);
    }
    CHECK(curved > p->edges.size() / 2);
    std::map<uint32_t, std::pair<float, float>> places;
    for (const PictureNode& n : p->nodes) places[n.slot] = {n.x, n.y};
    w.key(Qt::Key_Right);
    w.key(Qt::Key_Right);
    for (const PictureNode& n : w.session.graph()->picture()->nodes)
      if (const auto was = places.find(n.slot); n.slot != UINT32_MAX && was != places.end())
        CHECK(was->second == std::pair(n.x, n.y));
    w.session.setStepAlone(true); // a small picture too
    w.settle();
    CHECK(w.session.graph()->picture()->curved);
  }
  Window w(compiledTrace(), true);
  CHECK(w.session.layoutBy() == "dot");
  CHECK(w.session.graph()->picture()->curved);
  w.key(Qt::Key_R, Qt::ShiftModifier);
  CHECK(w.session.layoutBy() == "layered");
  CHECK_FALSE(w.session.graph()->picture()->curved);
  forget();
}

TEST_CASE("settings: size and place of the window and its panes survive a restart") {
  forget();
  QRect place;
  double side = 0;
  {
    Window w(compiledTrace(), true);
    w.window->setGeometry(90, 60, 1111, 777);
    w.settle();
    QQuickItem* left = w.item("leftPane");
    const double before = left->width();
    dragHandle(w, left, 70);
    CHECK(left->width() > before + 40);
    w.key(Qt::Key_B, Qt::ControlModifier | Qt::AltModifier);
    side = left->width();
    place = w.window->geometry();
    w.window->close();
  }
  {
    Window w(compiledTrace(), true);
    CHECK(w.window->geometry() == place);
    CHECK(w.item("leftPane")->width() == doctest::Approx(side).epsilon(0.02));
    CHECK_FALSE(w.item("rightPane")->isVisible());
  }
  QSettings(QStringLiteral("uopscope"), QStringLiteral("uopscope"))
      .setValue(QStringLiteral("window/place"),
                QStringLiteral("{\"x\":90000,\"y\":-4000,\"width\":5,\"height\":640}"));
  Window w(compiledTrace(), true); // a screen that is gone, an impossible width
  CHECK(w.window->width() >= 720);
  CHECK(w.window->x() < 90000);
  forget();
}

TEST_CASE("settings: without leave nothing is read and nothing is kept") {
  forget();
  {
    Window w(compiledTrace());
    w.key(Qt::Key_T);
    w.tools.sql()->keep("nothing");
    REQUIRE(w.session.preferences()->setKeys("legend", "Ctrl+Shift+K"));
    w.window->close();
  }
  CHECK(QSettings(QStringLiteral("uopscope"), QStringLiteral("uopscope")).allKeys().isEmpty());
}

TEST_CASE("settings: a key is changed by a click on the sheet, and given back by a double click") {
  Window w(compiledTrace());
  w.key(Qt::Key_Question);
  REQUIRE(w.popupOpen("keysSheet"));
  w.click(w.item("keyOf-legend"));
  w.key(Qt::Key_F7);
  w.key(Qt::Key_Escape);
  CHECK_FALSE(w.popupOpen("keysSheet"));
  w.key(Qt::Key_F7);
  QQuickItem* pane = w.canvas->parentItem();
  CHECK(pane->property("showLegend").toBool());
  w.key(Qt::Key_F1);
  // A key that belongs to a different action stays there.
  w.click(w.item("keyOf-legend"));
  w.key(Qt::Key_F5);
  CHECK(w.session.notice().contains("F5"));
  w.key(Qt::Key_Escape);
  w.doubleClick(w.centre(w.item("keyOf-legend")));
  w.key(Qt::Key_Escape);
  w.key(Qt::Key_L, Qt::ShiftModifier);
  CHECK_FALSE(pane->property("showLegend").toBool());
}
