// The graph under the mouse and the keys: neighbours revealed one by one, sources walked, nodes kept and
// collapsed, the overview clicked and dragged, its description. A new text size does not change the zoom.
#include "tests/viz/window_support.h"

#include <QMimeData>
#include <QTemporaryDir>

using namespace uopscope;
using namespace uopscope::test;

namespace {

// Clicks a node with drawn sources.
int64_t clickNode(Window& w) {
  const Picture& p = *w.session.graph()->picture();
  int64_t id = -1;
  for (const PictureEdge& e : p.edges)
    if (p.nodes[e.to].id < 0x80000000 && e.mark != Mark::Removed && p.nodes[e.to].mark != Mark::Removed)
      id = p.nodes[e.to].id;
  REQUIRE(id >= 0);
  w.canvas->focusNode(id);
  w.settle();
  QTest::mouseClick(w.window, Qt::LeftButton, {},
                    w.canvas->mapToScene(w.canvas->nodeOnScreen(id).center()).toPoint());
  w.settle();
  REQUIRE(w.session.node() == id);
  return id;
}

} // namespace

namespace {

/// A chain of 60 products, compiled for the device that executes nothing: a schedule of many nodes.
void recordDeep(const std::string& path) {
  SessionOptions options;
  options.path = path;
  options.script = "deep.py";
  options.handleSignals = false;
  RecordingSession recording(options);
  TensorOptions null;
  null.device = "NULL";
  Tensor x = Tensor::empty({4, 16}, null);
  for (int k = 0; k < 60; ++k) x = x.matmul(Tensor::empty({16, 16}, null)).relu();
  x.realize();
}

} // namespace

TEST_CASE("graph: nothing but the neighbours, then more of them one key at a time, then all") {
  Window w(compiledTrace());
  const int all = w.session.graph()->nodeCount();
  clickNode(w);
  w.key(Qt::Key_U);
  int shown = w.session.graph()->nodeCount();
  REQUIRE(shown < all);
  bool grew = false;
  for (int k = 0; k < 8 && !grew; ++k) {
    w.key(k % 2 ? Qt::Key_I : Qt::Key_O);
    grew = w.session.graph()->nodeCount() > shown;
  }
  CHECK(grew);
  QQuickItem* chip = w.item("hiddenChip");
  CHECK(chip->isVisible());
  w.click(chip);
  CHECK(w.session.graph()->nodeCount() == all);
  CHECK_FALSE(chip->isVisible());
}

TEST_CASE("graph: sources by number, script and maker of the selection by key") {
  Window w(compiledTrace());
  const int64_t from = clickNode(w);
  const QVariantList sources = w.session.nodeInfo()["sources"].toList();
  REQUIRE_FALSE(sources.isEmpty());
  w.key(Qt::Key_1);
  CHECK(w.session.node() == sources[0].toMap()["id"].toLongLong());
  w.session.setNode(from);
  w.settle();
  w.key(Qt::Key_9);
  CHECK(w.session.notice().contains("9 sources"));
  for (const PictureNode& n : w.session.graph()->picture()->nodes) {
    if (n.id >= 0x80000000) continue;
    w.session.setNode(n.id);
    w.settle();
    bool made = false;
    for (const QVariant& v : w.session.nodeInfo()["chain"].toList())
      made |= v.toMap()["kind"].toString() == "rule";
    if (!made) continue;
    w.key(Qt::Key_H);
    CHECK(w.session.stepInfo()["rule"].toString().size() > 0);
    CHECK(w.session.step() > 0);
    break;
  }
}

TEST_CASE("graph: a node is kept and let go by key, hidden and shown again") {
  Window w(compiledTrace());
  const int64_t id = clickNode(w);
  w.key(Qt::Key_P, kShift);
  CHECK(w.session.graph()->picture()->find(id)->pinned);
  w.key(Qt::Key_P, kShift);
  CHECK_FALSE(w.session.graph()->picture()->find(id)->pinned);
  w.key(Qt::Key_S);
  CHECK_FALSE(w.session.graph()->picture()->find(id));
  w.key(Qt::Key_A);
  CHECK(w.session.graph()->picture()->find(id));
}

TEST_CASE("graph: every way to collapse and to colour, by menu; what is left out is told") {
  Window w(compiledTrace());
  for (const char* by : {"kernel", "loop", "reduce", "tensor", "line", "nothing"}) {
    w.click(w.item("groupPicker"));
    REQUIRE(w.popupOpen("groupPickerMenu"));
    w.click(w.item(QStringLiteral("groupPicker-") + by));
    CHECK(w.tools.graph()->groupBy() == by);
    CHECK((w.session.graph()->groups() == 0 || w.item("groupChip")->isVisible()));
  }
  for (const char* by : {"dtype", "axis", "line", "pass", "cost", "op"}) {
    w.click(w.item("colourPicker"));
    w.click(w.item(QStringLiteral("colourPicker-") + by));
    CHECK(w.session.graph()->colourBy() == by);
  }
  w.key(Qt::Key_C, kShift);
  CHECK(w.session.graph()->colourBy() == "dtype");
  w.click(w.item("toggleLegend"));
  CHECK(w.canvas->parentItem()->property("showLegend").toBool());
}

TEST_CASE("graph: the schedule of a large model opens as its reductions, by name; a box opens by mouse") {
  static const TempTrace file;
  recordDeep(file.path);
  Window w(QString::fromStdString(file.path));
  const Trace& trace = readerOf(w.session);
  const auto schedule = std::ranges::find(trace.scopes(), ScopeKind::Schedule, &ScopeInfo::kind);
  REQUIRE(schedule != trace.scopes().end());
  REQUIRE(w.session.follow(QStringLiteral("kernel=%1&pass=View Input Graph&step=0").arg(schedule->id)));
  w.settle();
  CHECK(w.tools.graph()->groupBy() == "reduce");
  const PicturePtr p = w.session.graph()->picture();
  REQUIRE(p->graphNodes > 400);
  CHECK(p->nodes.size() < p->graphNodes / 4);
  for (const PictureEdge& e : p->edges) CHECK(p->nodes[e.from].y < p->nodes[e.to].y);
  const auto product = std::ranges::find_if(p->nodes, [](const PictureNode& n) { return n.members > 2; });
  REQUIRE(product != p->nodes.end());
  w.canvas->focusNode(product->id);
  w.settle();
  w.doubleClick(w.canvas->mapToScene(w.canvas->nodeOnScreen(product->id).center()).toPoint());
  CHECK(w.session.graph()->picture()->nodes.size() > p->nodes.size());
  // A kernel shows its nodes again.
  const auto kernel = std::ranges::find_if(
      trace.scopes(), [](const ScopeInfo& s) { return s.kind == ScopeKind::Kernel && s.steps > 0; });
  REQUIRE(kernel != trace.scopes().end());
  w.session.goToScope(kernel->id);
  w.settle();
  CHECK(w.tools.graph()->groupBy() == "nothing");
}

TEST_CASE("graph: folded, turned, followed, zoomed by keys and by buttons") {
  Window w(compiledTrace());
  const bool folds = w.session.foldLabels(), right = w.session.leftToRight(), follows = w.canvas->follow();
  w.key(Qt::Key_C);
  CHECK(w.session.foldLabels() != folds);
  w.click(w.item("toggleFold"));
  CHECK(w.session.foldLabels() == folds);
  w.key(Qt::Key_R);
  CHECK(w.session.leftToRight() != right);
  w.click(w.item("toggleTurn"));
  CHECK(w.session.leftToRight() == right);
  w.key(Qt::Key_L);
  CHECK(w.canvas->follow() != follows);
  w.key(Qt::Key_0);
  CHECK(w.canvas->zoom() == doctest::Approx(1));
  w.key(Qt::Key_Plus);
  CHECK(w.canvas->zoom() > 1.2);
  w.key(Qt::Key_Minus);
  w.key(Qt::Key_D);
  const QRectF change = w.canvas->viewRect();
  w.key(Qt::Key_Space);
  CHECK(w.canvas->viewRect().width() >= change.width());
}

TEST_CASE("graph: the overview leads there by a click and by a drag, and goes by key") {
  Window w(compiledTrace());
  w.key(Qt::Key_0);
  QQuickItem* map = w.item("map");
  REQUIRE(map->isVisible());
  auto at = [&](double x, double y) {
    return map->mapToScene(QPointF(map->width() * x, map->height() * y)).toPoint();
  };
  QTest::mouseClick(w.window, Qt::LeftButton, {}, at(0.2, 0.3));
  w.settle();
  const QRectF left = w.canvas->viewRect();
  w.drag(at(0.2, 0.3), at(0.8, 0.6));
  CHECK(w.canvas->viewRect().center().x() > left.center().x());
  w.key(Qt::Key_M);
  CHECK_FALSE(map->isVisible());
}

TEST_CASE("graph: text grows, the graph keeps its zoom; a presentation shows the graph and the step") {
  Window w(compiledTrace());
  w.key(Qt::Key_0);
  const double zoom = w.canvas->zoom();
  for (int k = 0; k < 3; ++k) w.key(Qt::Key_Plus, kCtrl);
  CHECK(w.theme.textScale() == doctest::Approx(1.3));
  CHECK(w.canvas->zoom() == doctest::Approx(zoom));
  w.key(Qt::Key_Minus, kCtrl);
  w.key(Qt::Key_0, kCtrl);
  w.key(Qt::Key_F9);
  CHECK_FALSE(w.item("leftPane")->isVisible());
  w.key(Qt::Key_Escape);
  CHECK(w.item("leftPane")->isVisible());
  w.key(Qt::Key_B, kCtrl);
  CHECK_FALSE(w.item("leftPane")->isVisible());
  w.key(Qt::Key_B, kCtrl | Qt::AltModifier);
  CHECK_FALSE(w.item("rightPane")->isVisible());
}

TEST_CASE("graph: the tree is filtered, its hidden passes shown by a click; a text is searched") {
  Window w(expressionTrace());
  w.item("treeFilter")->forceActiveFocus();
  w.type("nest");
  CHECK(w.session.tree()->filter() == "nest");
  w.key(Qt::Key_Escape);
  CHECK(w.session.tree()->filter().isEmpty());
  CHECK(w.window->activeFocusItem() == w.canvas);
  if (w.session.tree()->hiddenCount() > 0) {
    w.click(w.item("hiddenPasses"));
    CHECK_FALSE(w.session.tree()->hideEmpty());
  }
  w.key(Qt::Key_2, kCtrl);
  w.key(Qt::Key_F, kCtrl);
  w.type("data0[0]");
  w.key(Qt::Key_Return);
  w.key(Qt::Key_F3);
  w.key(Qt::Key_F3, kShift);
  w.key(Qt::Key_Escape);
  w.key(Qt::Key_1, kCtrl);
  w.key(Qt::Key_Slash);
  w.type("op:ADD");
  const int adds = w.session.graph()->foundCount();
  w.key(Qt::Key_Escape);
  w.key(Qt::Key_Slash);
  w.type("/A.D/");
  CHECK(w.session.graph()->foundCount() >= adds);
  w.key(Qt::Key_Return, kShift);
  CHECK(w.session.graph()->foundIndex() >= 0);
}

TEST_CASE("graph: a file that is no trace is dropped: told in words, and the way back is a click") {
  Window w;
  QTemporaryDir folder;
  QFile file(folder.filePath("notes.txt"));
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write("no trace at all");
  file.close();
  QMimeData files;
  files.setUrls({QUrl::fromLocalFile(file.fileName())});
  QDragEnterEvent enter({400, 300}, Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(w.window, &enter);
  QDropEvent drop({400, 300}, Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(w.window, &drop);
  w.settle();
  CHECK(w.session.state() == "error");
  CHECK(w.item("errorText")->property("text").toString().size() > 10);
  w.click(w.item("errorBack"));
  CHECK(w.item("welcomeOpen")->isVisible());
}
