// What if, by mouse and keyboard: a rule, a step, Opts and an alternative of a decision, on kernels of the samples.
// The program does the work, so the tests need it beside them.
#include "tests/viz/program.h"
#include "tests/viz/window_support.h"

#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>

using namespace uopscope;
using namespace uopscope::test;

namespace {

struct Lab : Window {
  WhatIfModel& lab = *tools.whatIf();
  explicit Lab(const QString& trace) : Window(trace) { lab.setProgram(program()); }
  void wait() {
    REQUIRE(waitFor([&] { return !lab.busy(); }, 120000));
    settle();
  }
  QString at(int row, int role) { return lab.data(lab.index(row), role).toString(); }
  /// A number without the signs between its groups.
  int numberAt(int row, int role) {
    return at(row, role).remove(QRegularExpression(QStringLiteral("\\D"))).toInt();
  }
  /// Goes to the first step of the kernel that has alternatives; false where there is none.
  bool goToAlternatives() {
    for (const DecidedStep& d : decidedSteps(readerOf(session), session.scope()))
      if (!d.made.others.empty()) {
        session.goTo(d.pass, d.k);
        settle();
        return true;
      }
    return false;
  }
};

} // namespace

TEST_CASE("what if: without a rule, typed and clicked; the code stands beside the code as it is") {
  if (program().isEmpty()) return;
  Lab w(tiledTrace());
  w.session.trigger("tab-whatif");
  w.settle();
  CHECK(w.item("whatIfHint")->isVisible());
  REQUIRE(waitFor([&] { return !w.lab.rules().isEmpty(); }));
  w.click(w.item("whatIfField"));
  w.type("mul-one");
  w.key(Qt::Key_Return);
  w.wait();
  REQUIRE(w.lab.count() == 2);
  CHECK(w.at(0, WhatIfModel::NameRole) == "as it is");
  CHECK(w.at(1, WhatIfModel::NameRole) == "without mul-one");
  CHECK(w.numberAt(0, WhatIfModel::InstructionsRole) > 10);
  CHECK_FALSE(w.at(1, WhatIfModel::VerdictRole).isEmpty());
  CHECK(w.lab.current() == 1);
  // The same again is the same row.
  w.lab.withoutRule("mul-one");
  w.wait();
  CHECK(w.lab.count() == 2);
  // A rule that is offered while somebody types is taken by a click.
  w.click(w.item("whatIfField"));
  const QString offered = w.item("whatIfOffer0")->property("text").toString();
  w.click(w.item("whatIfOffer0"));
  w.wait();
  CHECK(w.lab.current() > 0);
  CHECK(w.at(w.lab.current(), WhatIfModel::NameRole) == "without " + offered);
  if (w.lab.count() == 3) w.lab.remove(2);
  // A rule that nobody knows is told by name, and stays a row that can be removed.
  w.click(w.item("whatIfField"));
  w.type("mul-won");
  w.key(Qt::Key_Return);
  w.wait();
  REQUIRE(w.lab.count() == 3);
  CHECK(w.lab.sentence().contains("mul-won"));
  CHECK(w.at(2, WhatIfModel::ToneRole) == "bad");
  CHECK(w.at(2, WhatIfModel::VerdictRole) == "unknown rule");
  CHECK_FALSE(w.item("whatIfParting")->isVisible());
  w.click(w.item("whatIfRemove2"));
  CHECK(w.lab.count() == 2);
}

TEST_CASE("what if: other Opts make other code, and the times are told or the reason why not") {
  if (program().isEmpty()) return;
  Lab w(tiledTrace());
  w.session.trigger("tab-whatif");
  w.settle();
  w.click(w.item("whatIfNone"));
  w.wait();
  REQUIRE(w.lab.count() == 2);
  CHECK(w.at(1, WhatIfModel::InstructionsRole) != w.at(0, WhatIfModel::InstructionsRole));
  CHECK(w.lab.lines()->rowCount() > 0);
  CHECK(w.lab.sentence().startsWith("Opts none in place of UPCAST"));
  CHECK((!w.at(1, WhatIfModel::TimeRole).isEmpty() || w.lab.sentence().contains("not timed")));
  w.lab.setCurrent(0);
  w.settle();
  CHECK(w.lab.chosenOpts().contains("UPCAST"));
  w.click(w.item("whatIfOpts"));
  CHECK(w.item("whatIfField")->property("text").toString() == w.lab.chosenOpts());
  w.key(Qt::Key_Return);
  w.wait();
  CHECK(w.at(2, WhatIfModel::VerdictRole) == "the same code");
}

TEST_CASE("what if: an alternative of a decision is tried by a click, the step itself left out by a key") {
  if (program().isEmpty()) return;
  Lab w(tiledTrace());
  REQUIRE(w.goToAlternatives());
  w.click(w.item("decisionFlip1"));
  w.wait();
  CHECK(w.session.tab() == "whatif");
  REQUIRE(w.lab.count() == 2);
  CAPTURE(w.lab.sentence().toStdString());
  CHECK(w.at(1, WhatIfModel::NameRole).contains(" of r"));
  CHECK(w.at(1, WhatIfModel::ToneRole) != "bad");
  CHECK(w.at(1, WhatIfModel::VerdictRole) != "the same code");
  w.key(Qt::Key_W, Qt::ShiftModifier);
  w.wait();
  REQUIRE(w.lab.count() == 3);
  CHECK(w.at(2, WhatIfModel::NameRole).startsWith("without "));
  CHECK(w.at(2, WhatIfModel::VerdictRole) != "the same code");
}

TEST_CASE("what if: the chip beside an alternative is reached by Tab and pressed by Space") {
  if (program().isEmpty()) return;
  Lab w(tiledTrace());
  REQUIRE(w.goToAlternatives());
  QQuickItem* chip = w.item("decisionFlip2");
  REQUIRE(chip->isVisible());
  CHECK(chip->property("text").toString() == "try");
  auto holdsFocus = [&](QQuickItem* root) {
    for (QQuickItem* i = w.window->activeFocusItem(); i; i = i->parentItem())
      if (i == root) return true;
    return false;
  };
  int presses = 0;
  for (; presses < 200 && !holdsFocus(chip); ++presses) w.key(Qt::Key_Tab);
  REQUIRE(holdsFocus(chip));
  w.key(Qt::Key_Space);
  w.wait();
  CHECK(w.session.tab() == "whatif");
  REQUIRE(w.lab.count() == 2);
  CHECK(w.at(1, WhatIfModel::NameRole).contains(" of r"));
  CHECK(w.at(1, WhatIfModel::ToneRole) != "bad");
}

TEST_CASE("what if: a step of a pass is left out alone; a schedule is refused in words") {
  if (program().isEmpty()) return;
  Lab w(tiledTrace());
  // A rule that says the same in fewer nodes: without one such rewrite the kernel is still right.
  for (const PassInfo& p : w.session.trace()->passes(w.session.scope()))
    if (p.name == "initial symbolic" && p.steps > 0) w.session.goTo(p.id, 1);
  w.settle();
  w.key(Qt::Key_W, Qt::ShiftModifier);
  w.wait();
  REQUIRE(w.lab.count() == 2);
  CAPTURE(w.lab.sentence().toStdString());
  CHECK(w.at(1, WhatIfModel::VerdictRole) != "other results");
  for (const ScopeInfo& s : w.session.trace()->scopes())
    if (s.kind == ScopeKind::Schedule && s.steps > 0) w.session.goToScope(s.id);
  w.settle();
  w.lab.withoutRule("mul-one");
  w.settle();
  CHECK(w.lab.problem().contains("kernel first"));
  CHECK(w.lab.count() == 0);
}

TEST_CASE("by hand: a rule is chosen among all that match, taken back, chosen again; the compiler goes on") {
  if (program().isEmpty()) return;
  Lab w(tiledTrace());
  HandModel& hand = *w.tools.hand();
  hand.setProgram(program());
  auto waitHand = [&] {
    REQUIRE(waitFor([&] { return !hand.busy(); }, 120000));
    w.settle();
  };
  for (const PassInfo& p : w.session.trace()->passes(w.session.scope()))
    if (p.name == "initial symbolic" && p.depth == 0 && p.steps > 0) w.session.goTo(p.id, 0);
  w.settle();
  w.key(Qt::Key_H, Qt::ShiftModifier);
  waitHand();
  CHECK(w.session.tab() == "whatif");
  CAPTURE(hand.problem().toStdString());
  REQUIRE(hand.count() > 3);
  CHECK(w.item("handPane")->isVisible());
  CHECK(hand.rewrite()->picture());
  CHECK(hand.graph()->picture());
  const int all = hand.count();
  // A click looks at a row, a double click takes it, Ctrl Z takes it back.
  const QString first = hand.data(hand.index(0), HandModel::NameRole).toString();
  w.click(w.item("handApply"));
  waitHand();
  REQUIRE(hand.chosen() == QStringList{first});
  w.click(w.item("handBack"));
  waitHand();
  CHECK(hand.chosen().isEmpty());
  CHECK(hand.count() == all);
  // Typing filters, Return applies the row in front, Ctrl Return goes on.
  w.click(w.item("handFilter"));
  w.type("nothing-like-it");
  CHECK(hand.count() == 0);
  w.key(Qt::Key_Escape);
  CHECK(hand.count() == all);
  w.type(first.section('#', 0, 0));
  w.key(Qt::Key_Return);
  waitHand();
  CHECK(hand.chosen().size() == 1);
  w.key(Qt::Key_Return, Qt::ControlModifier);
  w.wait();
  CHECK_FALSE(hand.open());
  REQUIRE(w.lab.count() == 2);
  CAPTURE(w.lab.sentence().toStdString());
  CHECK(w.at(1, WhatIfModel::NameRole).endsWith(" (initial symbolic 0)"));
  CHECK(w.at(1, WhatIfModel::ToneRole) != "bad");
}

TEST_CASE("by hand: a schedule is refused in words, and Escape lets the graph go") {
  if (program().isEmpty()) return;
  Lab w(tiledTrace());
  HandModel& hand = *w.tools.hand();
  hand.setProgram(program());
  for (const PassInfo& p : w.session.trace()->passes(w.session.scope()))
    if (p.name == "devectorize" && p.steps > 0) w.session.goTo(p.id, 1);
  w.settle();
  w.session.trigger("tab-whatif");
  w.settle();
  w.click(w.item("whatIfHand"));
  REQUIRE(waitFor([&] { return !hand.busy(); }, 120000));
  w.settle();
  CHECK(hand.open());
  w.key(Qt::Key_Escape);
  CHECK_FALSE(hand.open());
  for (const ScopeInfo& s : w.session.trace()->scopes())
    if (s.kind == ScopeKind::Schedule && s.steps > 0) w.session.goToScope(s.id);
  w.settle();
  w.key(Qt::Key_H, Qt::ShiftModifier);
  w.settle();
  CHECK_FALSE(hand.open());
  CHECK(w.item("whatIfProblem")->isVisible());
}

TEST_CASE("what if: variants are named, sorted, found again when the trace is opened, renamed and deleted") {
  if (program().isEmpty()) return;
  const QTemporaryDir folder;
  const QString path = folder.filePath("kept.uoptrace"), file = path + ".variants.json";
  QFile::copy(tiledTrace(), path);
  QString link;
  {
    Lab w(path);
    w.session.trigger("tab-whatif");
    w.settle();
    w.click(w.item("whatIfNone"));
    w.wait();
    w.lab.opts("UPCAST 1 8");
    w.wait();
    w.lab.setCurrent(1);
    w.settle();
    w.click(w.item("whatIfName"));
    w.type("plain loops");
    w.key(Qt::Key_Return);
    CHECK(w.at(1, WhatIfModel::NameRole) == "plain loops");
    CHECK(QFile::exists(file));
    link = w.lab.link();
    CHECK(link.contains("variant=plain+loops"));
    // Sorted by a click on a column, the kernel as it is stays first; a second click turns the order round.
    w.click(w.item("whatIfSort-instructions"));
    const int up = w.numberAt(1, WhatIfModel::InstructionsRole);
    CHECK(up <= w.numberAt(2, WhatIfModel::InstructionsRole));
    w.click(w.item("whatIfSort-instructions"));
    CHECK(w.at(0, WhatIfModel::NameRole) == "as it is");
    CHECK(w.numberAt(2, WhatIfModel::InstructionsRole) == up);
    // A name is of one variant.
    w.lab.sortBy("name");
    w.settle();
    for (int row = 1; row < w.lab.count(); ++row)
      if (w.at(row, WhatIfModel::NameRole) != "plain loops") w.lab.setCurrent(row);
    w.lab.keep("plain loops");
    CHECK(w.lab.keptName().isEmpty());
    CHECK(w.session.notice().contains("plain loops"));
  }
  {
    Lab w(path);
    CHECK(w.lab.count() == 2); // as it is, and the kept one, which waits to be chosen
    CHECK(w.at(1, WhatIfModel::VerdictRole) == "kept");
    CHECK_FALSE(w.lab.busy());
    CHECK(w.session.follow(link));
    w.wait();
    CHECK(w.session.tab() == "whatif");
    CHECK(w.lab.current() == 1);
    CHECK(w.numberAt(1, WhatIfModel::InstructionsRole) > 10);
    w.click(w.item("whatIfName"));
    w.key(Qt::Key_A, Qt::ControlModifier);
    w.type("without Opts");
    w.click(w.item("whatIfKeep"));
    CHECK(w.lab.keptName() == "without Opts");
    CHECK(w.session.follow("variant=plain+loops"));
    CHECK(w.session.notice().contains("plain loops"));
    w.settle();
    w.click(w.item("whatIfRemove1"));
    CHECK(w.lab.count() == 1);
  }
  QFile left(file);
  REQUIRE(left.open(QIODevice::ReadOnly));
  CHECK_FALSE(left.readAll().contains("Opts"));
}
