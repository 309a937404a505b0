// The page that compares two corpora or traces, by keys and by mouse.
#include "tests/replay/compare/history.h"
#include "tests/viz/window_support.h"

#include <QFile>
#include <QMimeData>
#include <QRegularExpression>

using namespace uopscope;
using namespace uopscope::test;

namespace {

struct ReplayPage {
  TempCorpus before{commits::of(commits::kFirst)}, after{commits::of(commits::kOff)};
  Window w;
  ReplayModel& replay = *w.tools.replay();

  void open() {
    replay.openFiles({QString::fromStdString(before.path), QString::fromStdString(after.path)});
    settle();
    REQUIRE(replay.state() == "ready");
  }
  void settle() {
    auto ready = [&] {
      if (!replay.settled()) return false;
      for (const char* name : {"replayLeft", "replayRight", "replayTogether"})
        if (const auto* canvas =
                qobject_cast<GraphCanvas*>(below(w.window->contentItem(), QLatin1String(name)));
            canvas && canvas->isVisible() && !canvas->settled())
          return false;
      return true;
    };
    REQUIRE(waitFor(ready));
    QTest::qWait(30);
    REQUIRE(waitFor(ready));
    w.settle();
  }
  void key(Qt::Key k, Qt::KeyboardModifiers m = Qt::NoModifier) {
    w.key(k, m);
    settle();
  }
  void click(const char* name) {
    w.click(w.item(name));
    settle();
  }
  QString text(const char* name) { return w.item(name)->property("text").toString(); }
};

} // namespace

TEST_CASE("replay page: arrows move both sides, D leads back to where they part, ] to the next kernel") {
  ReplayPage p;
  p.open();
  CHECK(p.w.item("replayPage")->isVisible());
  const int parting = p.replay.detail()->parting();
  CHECK(p.replay.detail()->row() == parting);
  p.key(Qt::Key_Right);
  CHECK(p.replay.detail()->row() == parting + 1);
  p.key(Qt::Key_Left);
  p.key(Qt::Key_Left);
  CHECK(p.replay.detail()->row() == parting - 1);
  p.key(Qt::Key_D);
  CHECK(p.replay.detail()->row() == parting);
  p.key(Qt::Key_Down);
  CHECK(p.text("replayLeftPlace").contains("devectorize"));
  CHECK(p.text("replayRightPlace").contains("devectorize"));
  const QString name = p.text("replayName");
  p.key(Qt::Key_BracketRight);
  CHECK(p.text("replayName") != name);
  p.key(Qt::Key_Escape);
  CHECK_FALSE(p.replay.shown());
}

TEST_CASE("replay page: loops have one name in the sentence and above the graphs") {
  ReplayPage p;
  p.open();
  const QRegularExpression asTheEngineSays("\\br[0-9]+\\b");
  const auto engines = [&](const QString& text) { return text.contains(asTheEngineSays); };
  CHECK_FALSE(engines(p.text("replaySentence")));
  int loops = 0;
  for (int k = 0; k < 20; ++k, p.key(Qt::Key_Right))
    for (const char* name : {"replayLeftText", "replayRightText"}) {
      CHECK_FALSE(engines(p.text(name)));
      loops += p.text(name).contains(QRegularExpression("L[0-9]"));
    }
  CHECK(loops > 0);
}

TEST_CASE("replay page: rows, buttons, filters and causes by mouse") {
  ReplayPage p;
  p.open();
  const int parting = p.replay.detail()->row();
  p.click("replayNext");
  CHECK(p.replay.detail()->row() == parting + 1);
  p.click("replayParting");
  CHECK(p.replay.detail()->row() == parting);
  p.click("replayFilter-same");
  CHECK(p.replay.list()->filter() == "same");
  CHECK(p.replay.list()->shown() == 4);
  p.click("replayFilter-all");
  p.click("replayRow2");
  CHECK(p.replay.list()->currentRow() == 2);
  p.click("replayRow0"); // the cause closes
  CHECK(p.replay.list()->currentRow() == -1);
  p.click("replayIgnoreNames");
  CHECK(p.replay.ignoreNames());
  CHECK(p.replay.state() == "ready");
}

TEST_CASE("replay page: letters typed into the search are letters, and Esc gives them back") {
  ReplayPage p;
  p.open();
  p.key(Qt::Key_Slash);
  p.w.type("k5");
  CHECK(p.replay.list()->search() == "k5");
  CHECK(p.replay.list()->shown() == 1);
  const int row = p.replay.detail()->row();
  p.w.type("d");
  CHECK(p.replay.detail()->row() == row);
  p.key(Qt::Key_Escape);
  CHECK(p.replay.list()->search().isEmpty());
  CHECK(p.replay.shown());
}

TEST_CASE("replay page: texts and graphs by key, each with something to see") {
  ReplayPage p;
  p.open();
  p.key(Qt::Key_2, Qt::ControlModifier);
  CHECK(p.replay.detail()->what() == "source");
  CHECK(p.w.item("replayText")->property("count").toInt() > 0);
  CHECK(p.w.item("replayText")->isVisible());
  p.click("replayOnlyChanges");
  CHECK(p.replay.detail()->lines()->onlyChanges());
  p.click("replayWhat-ir"); // nothing to see: said once, where one looks
  CHECK(p.w.item("replayText")->property("count").toInt() == 0);
  CHECK_FALSE(p.w.item("replaySummary")->isVisible());
  p.key(Qt::Key_5, Qt::ControlModifier);
  CHECK(p.w.item("replayTogether")->isVisible());
  CHECK(p.text("replaySummary").contains("added"));
  p.key(Qt::Key_Space);
  p.key(Qt::Key_R);
  CHECK(p.replay.detail()->leftToRight());
  p.key(Qt::Key_1, Qt::ControlModifier);
  CHECK(p.w.item("replayLeft")->isVisible());
}

TEST_CASE("replay page: files are chosen or dropped, errors are told and can be mended") {
  ReplayPage p;
  p.key(Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
  CHECK(p.replay.shown());
  CHECK_FALSE(p.w.item("replayChoose-after")->isEnabled());
  QMimeData files;
  files.setUrls({QUrl::fromLocalFile(QString::fromStdString(p.before.path)),
                 QUrl::fromLocalFile(QString::fromStdString(p.after.path))});
  const QPoint at(400, 300);
  QDragEnterEvent enter(at, Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(p.w.window, &enter);
  QDropEvent drop(at, Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(p.w.window, &drop);
  p.settle();
  CHECK(p.replay.state() == "ready");
  p.replay.openFiles({QString::fromStdString(p.before.path), "/no/such.uopcorpus"});
  p.settle();
  CHECK(p.text("replayError").contains("/no/such.uopcorpus"));
  p.click("replayBack");
  CHECK_FALSE(p.replay.shown());
}

TEST_CASE("replay page: a side opens in the debugger, the trace moves by the same keys, and back") {
  ReplayPage p;
  p.open();
  p.click("replayDebugLeft");
  CHECK_FALSE(p.replay.shown());
  CHECK(p.w.session.state() == "ready");
  const qlonglong step = p.w.session.step();
  p.key(Qt::Key_Left);
  CHECK(p.w.session.step() == step - 1);
  p.key(Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
  CHECK(p.replay.shown());
  p.key(Qt::Key_Right);
  CHECK(p.w.session.step() == step - 1); // the page below does not move
}

TEST_CASE("replay page: a page that closes while its rows change calls nothing that is gone") {
  ReplayPage p;
  p.open();
  for (int k = 0; k < 20; ++k) {
    p.replay.setShown(false); // the page is to be deleted
    p.replay.clear();         // and its rows go before that
    p.settle();
    p.replay.openFiles({QString::fromStdString(p.before.path), QString::fromStdString(p.after.path)});
    p.settle();
    REQUIRE(p.replay.state() == "ready");
  }
}

TEST_CASE("replay page: looks as it did, in both themes") {
  ReplayPage p;
  p.w.window->resize(1200, 760);
  p.open();
  for (const char* theme : {"dark", "light"}) {
    p.w.theme.setName(theme);
    p.settle();
    checkGolden(*p.w.window, QStringLiteral("replay-") + theme);
  }
}
