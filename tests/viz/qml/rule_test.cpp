// The rule bench in the window: a rule is written with names completed, tried, saved; the program does the work.
#include "tests/viz/program.h"
#include "tests/viz/window_support.h"

#include <QTemporaryDir>

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
