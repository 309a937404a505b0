// The rule bench in the window: a rule is written with names completed, tried, saved; the program does the work.
#include "tests/viz/program.h"
#include "tests/viz/window_support.h"

#include <QFile>
#include <QTemporaryDir>
#include <algorithm>
#include <set>

using namespace uopscope;
using namespace uopscope::test;

namespace {

struct Bench : Window {
  RuleModel& rule = *tools.rule();
  explicit Bench(const QString& trace) : Window(trace) {
    rule.setProgram(program());
    session.trigger("tab-rule");
    settle();
  }
  void wait() {
    REQUIRE(waitFor([&] { return !rule.busy(); }, 120000));
    settle();
  }
};

} // namespace

TEST_CASE("rule bench: the rule that stands there is tried, drawn, and a button leads to the first node it "
          "matches") {
  if (program().isEmpty()) return;
  Bench w(productTrace());
  CHECK(w.item("rulePane")->isVisible());
  w.click(w.item("ruleRun"));
  w.wait();
  CAPTURE(w.rule.problem().toStdString());
  REQUIRE(w.rule.rules().size() == 1);
  const QString verdict = w.item("ruleVerdict0")->property("text").toString();
  CHECK(verdict.contains("power_of_two: rewrites 1 nodes; 1 checked and right"));
  CHECK(verdict.contains("prove: "));
  REQUIRE(!w.rule.places().isEmpty());
  CHECK(w.rule.places()[0].toMap()["joins"].toBool());
  CHECK(w.rule.summary().contains("initial symbolic"));
  w.click(w.item("rulePlace0"));
  CHECK(w.rule.chosen() == 0);
  w.click(w.item("ruleGo"));
  CHECK(w.session.tab() == "graph");
  CHECK(w.session.passName() == "initial symbolic");
  CHECK(w.session.node() == w.rule.places()[0].toMap()["node"].toLongLong());
}

TEST_CASE("rule bench: faults are told with their line; names are completed; text is saved and opened") {
  if (program().isEmpty()) return;
  Bench w(productTrace());
  w.rule.setText("x = 1\nrules = nothing\n");
  w.rule.run();
  w.wait();
  CHECK(w.rule.problem().contains("rules.py:2: NameError"));
  CHECK(w.rule.problemLine() == 2);
  CHECK(w.item("ruleProblem")->isVisible());
  CHECK(w.rule.complete("UPat.v").contains("UPat.var"));
  CHECK(w.rule.complete("Ops.WHE") == QStringList{"Ops.WHERE"});
  CHECK(w.rule.complete("\"initial").contains("\"initial symbolic\""));
  w.rule.setText("");
  w.click(w.item("ruleText"));
  w.type("UPat.cv");
  w.key(Qt::Key_Tab);
  CHECK(w.rule.text() == "UPat.cvar");
  const QTemporaryDir folder;
  const QString path = folder.filePath("mine.py");
  CHECK(w.rule.save(path).isEmpty());
  w.rule.setText("other");
  w.rule.open(path);
  CHECK(w.rule.text() == "UPat.cvar");
  CHECK(w.rule.file() == path);
  w.rule.open(folder.filePath("nowhere.py"));
  CHECK(w.rule.problem().contains("cannot be read"));
}

TEST_CASE("rule bench by hand: a rule is typed, a name is taken by Tab and by a click, Ctrl Return tries it, "
          "a second press cancels") {
  if (program().isEmpty()) return;
  Bench w(productTrace());
  w.click(w.item("ruleText"));
  w.key(Qt::Key_A, Qt::ControlModifier);
  w.type("from tinygrad.uop.ops import UPat, PatternMatcher\nfrom tinygrad import dtypes\n");
  w.type("def eight(x, c): return x + x if c.arg == 2 else None\n");
  // Names stand below the text while a word is being written.
  w.type("rules = Patt");
  REQUIRE(w.item("ruleName0"));
  CHECK(w.item("ruleName0")->property("text").toString() == "PatternMatcher");
  w.key(Qt::Key_Tab);
  CHECK(w.rule.text().endsWith("rules = PatternMatcher"));
  w.type("([(UPat.var(\"x\", dtypes.ints) * UPat.cv");
  w.click(w.item("ruleName0"));
  CAPTURE(w.rule.text().toStdString());
  CHECK(w.rule.text().endsWith("* UPat.cvar"));
  w.type("(\"c\"), eight)])\nafter = \"initial sy");
  w.key(Qt::Key_Tab);
  CHECK(w.rule.text().endsWith("after = \"initial symbolic\""));
  CHECK(w.item("ruleText")->property("text").toString() == w.rule.text());
  w.key(Qt::Key_Return, Qt::ControlModifier);
  CHECK(w.rule.busy());
  w.wait();
  CAPTURE(w.rule.problem().toStdString());
  REQUIRE(w.rule.rules().size() == 1);
  CHECK(w.item("ruleVerdict0")->property("text").toString().contains("eight: "));
  // The button is the same question, and while it is asked its cancellation.
  w.click(w.item("ruleRun"));
  CHECK(w.rule.busy());
  CHECK(w.item("ruleRun")->property("text").toString() == "Cancel");
  w.click(w.item("ruleRun"));
  CHECK_FALSE(w.rule.busy());
  CHECK(w.rule.problem().contains("Cancelled"));
}

TEST_CASE(
    "rule bench by hand: Record with it records the script again, and the rule is a step of the new trace") {
  if (program().isEmpty()) return;
  const QTemporaryDir folder;
  const QString script = folder.filePath("small.py");
  QFile out(script);
  REQUIRE(out.open(QIODevice::WriteOnly));
  out.write("from tinygrad import Tensor\n"
            "print((Tensor([1, 2, 3]).realize() * 8 + 1).tolist())\n");
  out.close();
  Window w;
  w.session.setRecorderProgram(program());
  auto ready = [&] {
    return waitFor(
        [&] {
          return w.session.state() == "ready" && !w.session.recorder()->running() && !w.session.growing();
        },
        120000);
  };
  w.session.open(script);
  REQUIRE(ready());
  w.settle();
  const QString before = w.session.path();
  CHECK(!std::ranges::any_of(w.session.trace()->rules(),
                             [](const RuleInfo& r) { return r.name == "power_of_two"; }));
  w.session.trigger("tab-rule");
  w.settle();
  w.click(w.item("ruleRecord"));
  REQUIRE(waitFor([&] { return w.session.path() != before; }, 120000));
  REQUIRE(ready());
  w.settle();
  CHECK(w.session.path() != before);
  Trace& made = readerOf(w.session);
  bool ran = false;
  for (const ScopeInfo& s : made.scopes())
    for (const PassInfo& p : made.passes(s.id))
      for (const StepInfo& step : made.steps(p.id)) ran = ran || made.rule(step.rule).name == "power_of_two";
  CHECK(ran);
}

TEST_CASE("rule bench: in a small window the rule has the room that it needs, and what came of it stands "
          "beside the picture") {
  if (program().isEmpty()) return;
  Window w(productTrace());
  w.window->resize(900, 600);
  w.settle();
  w.tools.rule()->setProgram(program());
  w.session.trigger("tab-rule");
  w.settle();
  CHECK(w.item("ruleHint")->isVisible());
  const double fresh = w.item("ruleText")->parentItem()->parentItem()->height();
  w.click(w.item("ruleRun"));
  REQUIRE(waitFor([&] { return !w.tools.rule()->busy(); }, 120000));
  w.settle();
  CHECK_FALSE(w.item("ruleHint")->isVisible());
  CHECK(w.item("ruleText")->parentItem()->parentItem()->height() < fresh);
  QQuickItem *verdict = w.item("ruleVerdict0"), *pictures = w.item("rulePictures");
  CHECK(verdict->width() > 200);
  CHECK(verdict->mapToScene({verdict->width(), 0}).x() <= pictures->mapToScene({0, 0}).x());
}

TEST_CASE("what if: the variant and the kernel as it is are stepped through together") {
  if (program().isEmpty()) return;
  Window w(productTrace());
  WhatIfModel& lab = *w.tools.whatIf();
  lab.setProgram(program());
  w.session.trigger("tab-whatif");
  w.settle();
  w.click(w.item("whatIfNone"));
  REQUIRE(waitFor([&] { return !lab.busy(); }, 120000));
  w.settle();
  REQUIRE(lab.both().size() == 2);
  w.click(w.item("whatIfBoth"));
  REQUIRE(waitFor([&] { return w.tools.replay()->state() == "ready"; }, 60000));
  CHECK(w.tools.replay()->shown());
}
