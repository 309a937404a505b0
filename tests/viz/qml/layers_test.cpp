// The schedule of a large model by its layers: few boxes at every size, which open level by level, by mouse and by key.
#include "engine/tensor/call_namer.h"
#include "engine/tensor/operation_scope.h"
#include "tests/viz/window_support.h"

using namespace uopscope;
using namespace uopscope::test;

namespace {

// Blocks of two layers each, as a script would call them.
std::string callsNow;
std::string_view namedCalls() {
  return callsNow;
}
SourceLocation place() {
  return {"deep.py", 12};
}

QString layeredTrace() {
  static const TempTrace file;
  static const bool recorded = [] {
    setScriptLocator(&place);
    setCallNamer(&namedCalls);
    SessionOptions options;
    options.path = file.path;
    options.script = "deep.py";
    options.handleSignals = false;
    RecordingSession recording(options);
    TensorOptions null;
    null.device = "NULL";
    Tensor x = Tensor::empty({4, 16}, null);
    for (int k = 0; k < 24; ++k) {
      const std::string block = "model/blocks." + std::to_string(k);
      callsNow = block + "/attention";
      Tensor weight = Tensor::empty({16, 16}, null);
      x = x + x.matmul(weight).softmax();
      callsNow = block + "/narrow";
      x = x.matmul(Tensor::empty({16, 16}, null)).relu();
    }
    callsNow = "model/head";
    x = x.matmul(Tensor::empty({16, 10}, null));
    callsNow.clear();
    x.realize();
    setScriptLocator(nullptr);
    setCallNamer(nullptr);
    return true;
  }();
  (void)recorded;
  return QString::fromStdString(file.path);
}

void enterSchedule(Window& w) {
  w.session.setStepAlone(true);
  const Trace& trace = readerOf(w.session);
  const auto schedule = std::ranges::find(trace.scopes(), ScopeKind::Schedule, &ScopeInfo::kind);
  REQUIRE(schedule != trace.scopes().end());
  REQUIRE(w.session.follow(QStringLiteral("kernel=%1&pass=View Input Graph&step=0").arg(schedule->id)));
  w.settle();
}

const PictureNode* boxNamed(Window& w, const std::string& title) {
  for (const PictureNode& n : w.session.graph()->picture()->nodes)
    if (n.id >= kFirstGroupId && n.op == title) return &n;
  return nullptr;
}

QStringList levelsOf(Window& w) {
  QStringList out;
  for (const QVariant& level : w.tools.graph()->levels()) out << level.toMap()["text"].toString();
  return out;
}

void openByMouse(Window& w, const std::string& title) {
  const PictureNode* box = boxNamed(w, title);
  REQUIRE_MESSAGE(box, title);
  w.doubleClick(w.canvas->mapToScene(w.canvas->nodeOnScreen(box->id).center()).toPoint());
}

} // namespace

TEST_CASE("layers: the schedule of a large model opens as its layers, readable at every size") {
  Window w(layeredTrace());
  for (const QSize size : {QSize(1440, 900), QSize(900, 600), QSize(2560, 1440)}) {
    w.window->resize(size);
    REQUIRE(waitFor([&] { return w.window->size() == size; }));
    w.settle();
    enterSchedule(w);
    CHECK(w.tools.graph()->groupBy() == "layer");
    const PicturePtr p = w.session.graph()->picture();
    REQUIRE(p->graphNodes > 400);
    CAPTURE(size.width());
    CHECK(p->nodes.size() <= 30);
    CHECK(p->nodes.size() >= 3);
    // All of it is in the pane, and its letters are not small.
    CHECK(w.canvas->zoom() > 0.6);
    for (const PictureNode& n : p->nodes)
      CHECK(QRectF(0, 0, w.canvas->width(), w.canvas->height()).contains(w.canvas->nodeOnScreen(n.id)));
  }
}

TEST_CASE("layers: a level opens by a double click and by Return, and Backspace and a click lead back up") {
  Window w(layeredTrace());
  w.window->resize(900, 600);
  enterSchedule(w);
  openByMouse(w, "blocks.0–23 ×24");
  CHECK(levelsOf(w) == QStringList{"all layers", "model", "blocks.0–23 ×24"});
  CHECK(boxNamed(w, "blocks.3"));
  openByMouse(w, "blocks.3");
  CHECK(levelsOf(w).constLast() == "blocks.3");
  CHECK(boxNamed(w, "softmax"));  // a level of few boxes opens the largest at once
  CHECK(boxNamed(w, "blocks.2")); // the neighbours are drawn, the rest is counted
  CHECK_FALSE(boxNamed(w, "blocks.7"));
  CHECK(w.session.graph()->outside() > 0);
  // A single click selects, Return opens.
  const PictureNode* box = boxNamed(w, "softmax");
  REQUIRE(box);
  w.canvas->forceActiveFocus();
  QTest::mouseClick(w.window, Qt::LeftButton, {},
                    w.canvas->mapToScene(w.canvas->nodeOnScreen(box->id).center()).toPoint());
  w.settle();
  w.key(Qt::Key_Return);
  CHECK(levelsOf(w).constLast() == "softmax");
  w.key(Qt::Key_Backspace);
  CHECK(levelsOf(w).constLast() == "attention");
  w.key(Qt::Key_Backspace);
  CHECK(levelsOf(w).constLast() == "blocks.3");
  w.click(w.item("level-0"));
  CHECK(levelsOf(w) == QStringList{"all layers"});
  CHECK(boxNamed(w, "blocks.0–23 ×24"));
  w.key(Qt::Key_Backspace);
  CHECK_FALSE(w.session.notice().isEmpty());
}

TEST_CASE("layers: a step is drawn among the layers, a level stays in the next pass, and a kernel has none") {
  Window w(layeredTrace());
  enterSchedule(w);
  w.tools.graph()->openLevel("model/blocks.3");
  w.settle();
  REQUIRE(levelsOf(w).constLast() == "blocks.3");
  const qlonglong pass = w.session.pass();
  for (int k = 0; k < 6 && w.session.pass() == pass; ++k) w.key(Qt::Key_Down);
  CHECK(w.session.pass() != pass);
  CHECK(levelsOf(w).constLast() == "blocks.3");
  w.tools.graph()->openLevel({});
  w.settle();
  bool told = false;
  for (int k = 0; k < 8; ++k) {
    w.key(Qt::Key_Right);
    const PicturePtr& p = w.session.graph()->picture();
    told |= p->added + p->changed + p->removed > 0;
    CHECK(p->nodes.size() < 90);
  }
  CHECK(told);
  const Trace& trace = readerOf(w.session);
  const auto kernel = std::ranges::find_if(
      trace.scopes(), [](const ScopeInfo& s) { return s.kind == ScopeKind::Kernel && s.steps > 0; });
  REQUIRE(kernel != trace.scopes().end());
  w.session.goToScope(kernel->id);
  w.settle();
  CHECK(w.tools.graph()->groupBy() == "nothing");
}

TEST_CASE("layers: a selected node stays selected and is drawn, whatever box has it") {
  Window w(layeredTrace());
  enterSchedule(w);
  w.tools.graph()->openLevel("model/blocks.3/attention/softmax:12");
  w.settle();
  const auto& nodes = w.session.graph()->picture()->nodes;
  const auto node = std::ranges::find_if(nodes, [](const PictureNode& n) { return n.id < kFirstGroupId; });
  REQUIRE(node != nodes.end());
  const int64_t id = node->id;
  w.session.setNode(id);
  w.tools.graph()->openLevel({});
  w.settle();
  CHECK(w.session.node() == id);
  CHECK(w.session.graph()->picture()->find(id));
}
