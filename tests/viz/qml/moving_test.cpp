// Every way to move, by keys and by mouse on traces of real compilations: synonymous keys, nested passes,
// touching and changing steps, conditions and their marks, playing, jumps, back and forward.
#include "tests/viz/window_support.h"

using namespace uopscope;
using namespace uopscope::test;

namespace {

void choose(Window& w, const QString& typed, const QString& kind) {
  w.key(Qt::Key_P, kCtrl);
  w.type(typed);
  int row = -1;
  for (int i = 0; i < w.session.jump()->palette()->count() && row < 0; ++i)
    if (w.session.jump()->palette()->entry(i)["kind"].toString() == kind) row = i;
  REQUIRE(row >= 0);
  for (int i = 0; i < row; ++i) w.key(Qt::Key_Down);
  w.key(Qt::Key_Return);
  CHECK_FALSE(w.popupOpen("palette"));
}

} // namespace

TEST_CASE("moving: every key of a step does what its synonyms do") {
  Window w(compiledTrace());
  w.key(Qt::Key_Home);
  for (const Qt::Key k : {Qt::Key_Right, Qt::Key_J, Qt::Key_F10}) {
    const qlonglong step = w.session.step();
    w.key(k);
    CHECK(w.session.step() == step + 1);
  }
  w.key(Qt::Key_Left);
  w.key(Qt::Key_K);
  w.key(Qt::Key_F10, kShift);
  CHECK(w.session.step() == 0);
  const qlonglong pass = w.session.pass();
  for (const auto& [on, back, mods] : {std::tuple(Qt::Key_Down, Qt::Key_Up, Qt::KeyboardModifiers()),
                                       {Qt::Key_N, Qt::Key_B, Qt::KeyboardModifiers()},
                                       {Qt::Key_Right, Qt::Key_Left, Qt::KeyboardModifiers(kCtrl)}}) {
    w.key(on, mods);
    CHECK(w.session.pass() != pass);
    w.key(back, mods);
    CHECK(w.session.pass() == pass);
  }
  w.key(Qt::Key_PageDown);
  CHECK(w.session.step() == std::min<qlonglong>(11, w.session.stepCount()));
  w.key(Qt::Key_PageUp);
  CHECK(w.session.step() <= 1);
  const qlonglong kernel = w.session.scope();
  w.key(Qt::Key_BracketLeft);
  CHECK(w.session.scope() != kernel);
  w.key(Qt::Key_BracketRight);
  CHECK(w.session.scope() == kernel);
  w.key(Qt::Key_Up, kCtrl);
  CHECK(w.session.interval() == 2);
  w.key(Qt::Key_Down, kCtrl);
  CHECK(w.session.interval() == 1);
}

TEST_CASE("moving: into nested passes and out of them by keys, both ways") {
  Window w(expressionTrace());
  choose(w, "nest", "pass");
  w.key(Qt::Key_Home);
  const QString outer = w.session.passName();
  int in = 0;
  for (; in < 40 && w.session.passName() == outer; ++in) w.key(Qt::Key_F11);
  REQUIRE(w.session.passName() != outer);
  const StepId inside = w.session.traceStep();
  w.key(Qt::Key_F11, kShift);
  CHECK(w.session.passName() == outer);
  CHECK(w.session.traceStep() > inside);
  w.key(Qt::Key_F11, kCtrl);
  CHECK(w.session.passName() != outer);
  w.key(Qt::Key_F11, kCtrl | kShift);
  CHECK(w.session.passName() == outer);
  CHECK(w.session.traceStep() < inside);
}

TEST_CASE("moving: steps that touch the selection, that changed something, that a rule made") {
  Window w(expressionTrace());
  w.key(Qt::Key_Home);
  w.key(Qt::Key_Period);
  CHECK(w.session.step() > 0);
  CHECK_FALSE(w.session.stepInfo()["unchanged"].toBool());
  const qlonglong first = w.session.step();
  w.key(Qt::Key_Period);
  w.key(Qt::Key_Comma);
  CHECK(w.session.step() == first);
  const QString rule = w.session.stepInfo()["rule"].toString();
  w.key(Qt::Key_N, kShift);
  if (w.session.step() != first) {
    CHECK(w.session.stepInfo()["rule"].toString() == rule);
    w.key(Qt::Key_B, kShift);
  }
  CHECK(w.session.step() == first);
  w.key(Qt::Key_Right, kShift); // nothing is selected
  CHECK(w.session.notice().contains("Select a node"));
  w.key(Qt::Key_Home);
  const qlonglong node = w.session.steps()->steps()[0].before;
  w.session.setNode(node);
  w.settle();
  w.key(Qt::Key_Right, kShift);
  CHECK(w.session.step() >= 1);
  w.key(Qt::Key_Left, kShift);
  CHECK_FALSE(w.session.notice().isEmpty());
}

TEST_CASE("moving: a condition has its marks on the strip, is run to both ways by mouse, and goes") {
  Window w(compiledTrace());
  const QImage plain = w.window->grabWindow();
  w.key(Qt::Key_Colon, {}); // the second key of SQL
  CHECK(w.session.tab() == "sql");
  w.key(Qt::Key_1, kCtrl);
  w.key(Qt::Key_G, kCtrl);
  w.type("changed:yes");
  REQUIRE(waitFor([&] { return w.tools.conditions()->count() > 0; }));
  w.settle();
  CHECK(w.tools.conditions()->hits().size() > 0);
  QQuickItem* slider = w.item("slider");
  const QRect strip = slider->mapRectToScene(slider->boundingRect()).toAlignedRect();
  const QImage marked = w.window->grabWindow();
  CHECK(marked.copy(strip) != plain.copy(strip));
  const StepId here = w.session.traceStep();
  w.click(w.item("runOn"));
  const StepId there = w.session.traceStep();
  CHECK(there > here);
  w.click(w.item("runOn"));
  w.click(w.item("runBack"));
  CHECK(w.session.traceStep() == there);
  w.item("conditionField")->setProperty("text", "");
  w.item("conditionField")->forceActiveFocus();
  w.type("where nosuch > 1");
  CHECK_FALSE(w.tools.conditions()->problem().isEmpty());
  w.click(w.item("conditionClose"));
  CHECK_FALSE(w.item("conditionBar")->isVisible());
}

TEST_CASE("moving: play goes by itself, faster and slower, and stops") {
  Window w(compiledTrace());
  w.key(Qt::Key_Home);
  const qreal speed = w.tools.speed();
  w.key(Qt::Key_Greater);
  CHECK(w.tools.speed() == speed * 2);
  w.key(Qt::Key_Less);
  CHECK(w.tools.speed() == speed);
  w.tools.setSpeed(60);
  w.click(w.item("play"));
  CHECK(w.tools.playing());
  REQUIRE(waitFor([&] { return w.session.step() >= 3; }));
  w.key(Qt::Key_Space, kCtrl);
  CHECK_FALSE(w.tools.playing());
  w.settle();
  const qlonglong step = w.session.step();
  QTest::qWait(80);
  CHECK(w.session.step() == step);
}

TEST_CASE("moving: the slider is dragged and wheeled, a number is typed") {
  Window w(compiledTrace());
  QQuickItem* slider = w.item("slider");
  auto at = [&](double share) {
    return slider->mapToScene(QPointF(slider->width() * share, slider->height() / 2)).toPoint();
  };
  w.drag(at(0.1), at(0.75));
  CHECK(w.session.step() == qRound(0.75 * static_cast<double>(w.session.stepCount())));
  const qlonglong step = w.session.step();
  w.wheel(at(0.5), 120);
  CHECK(w.session.step() == step - 1);
  w.wheel(at(0.5), -120);
  CHECK(w.session.step() == step);
  w.item("stepNumber")->forceActiveFocus();
  w.key(Qt::Key_A, kCtrl);
  w.type("2");
  w.key(Qt::Key_Return);
  CHECK(w.session.step() == 2);
  w.key(Qt::Key_Right);
  CHECK(w.session.step() == 3);
}

TEST_CASE("moving: the palette leads to a kernel, a step and a node") {
  Window w(compiledTrace());
  const qlonglong scope = w.session.scope();
  w.key(Qt::Key_P, kCtrl);
  w.type("softmax nothing of the kind");
  CHECK(w.session.jump()->palette()->count() == 0);
  w.key(Qt::Key_Escape);
  w.key(Qt::Key_P, kCtrl);
  w.type(":2");
  w.key(Qt::Key_Return);
  CHECK(w.session.step() == 2);
  const auto node = static_cast<qlonglong>(w.session.steps()->steps()[1].before);
  w.key(Qt::Key_Left);
  w.key(Qt::Key_P, kCtrl);
  w.type("#" + QString::number(node));
  w.key(Qt::Key_Return);
  CHECK(w.session.node() == node);
  for (const ScopeInfo& s : w.session.trace()->scopes())
    if (s.kind == ScopeKind::Kernel && s.id != scope) {
      choose(w, QString::fromStdString(s.name), "kernel");
      CHECK(w.session.scope() == s.id);
      break;
    }
}

TEST_CASE("moving: back and forward by buttons and keys, steps and passes by a click on their rows") {
  Window w(compiledTrace());
  const qlonglong pass = w.session.pass();
  w.click(w.item("nextPass"));
  const qlonglong next = w.session.pass();
  REQUIRE(next != pass);
  w.click(w.item("back"));
  CHECK(w.session.pass() == pass);
  w.click(w.item("forward"));
  CHECK(w.session.pass() == next);
  w.click(w.item("previousPass"));
  CHECK(w.session.pass() == pass);
  w.key(Qt::Key_Left, Qt::AltModifier);
  w.key(Qt::Key_Right, Qt::AltModifier);
  CHECK(w.session.pass() == pass);
  QQuickItem* list = w.item("stepList");
  QMetaObject::invokeMethod(list, "positionViewAtBeginning");
  w.settle();
  QTest::mouseClick(w.window, Qt::LeftButton, {},
                    list->mapToScene(QPointF(40, 2.5 * w.theme.row())).toPoint());
  w.settle();
  CHECK(w.session.step() == 3);
}
