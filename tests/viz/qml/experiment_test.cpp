// The page of an experiment, by keys and by mouse: table, plot, metrics, sorting, comparison of two files.
#include "tests/replay/compare/history.h"
#include "tests/replay/experiment/made_experiment.h"
#include "tests/viz/window_support.h"

#include <QFile>
#include <QMimeData>
#include <QTemporaryDir>

using namespace uopscope;
using namespace uopscope::test;

namespace {

struct ExperimentPage {
  MadeExperiment before, after;
  Window w;
  ExperimentModel& e = *w.tools.experiment();

  explicit ExperimentPage(const MadeExperiment::Options& second = {.factor = 1.05}) : after(second) {}
  QString path(const MadeExperiment& file) const { return QString::fromStdString(file.path); }
  void open() {
    w.session.open(path(before));
    settle();
    REQUIRE(e.state() == "ready");
  }
  void openBoth() {
    e.openFiles({path(before), path(after)});
    settle();
    REQUIRE(e.state() == "ready");
  }
  void settle() {
    REQUIRE(waitFor([&] { return e.settled(); }));
    w.settle();
  }
  void key(Qt::Key k, Qt::KeyboardModifiers m = Qt::NoModifier) {
    w.key(k, m);
    settle();
  }
  void click(const QString& name) {
    w.click(w.item(name));
    settle();
  }
  QString text(const char* name) { return w.item(name)->property("text").toString(); }
  QStringList names() {
    QStringList out;
    for (int row = 0; row < e.rows()->shown(); ++row)
      out << e.rows()->data(e.rows()->index(row), ExperimentRows::NameRole).toString();
    return out;
  }
};

} // namespace

TEST_CASE("experiment page: a file opens as a table with a plot, and arrows choose cells") {
  ExperimentPage p;
  p.open();
  CHECK(p.w.item("experimentPage")->isVisible());
  CHECK(p.text("experimentTitle") == "matmul.py");
  CHECK(p.e.rows()->shown() == 4);
  CHECK(p.w.window->title().contains(".uopbench"));
  CHECK(p.w.item("experimentRow0")->property("median").toString() == "102.25 ms");
  CHECK(p.w.item("experimentRow0")->property("interval").toString() == "100.50 ms – 104.00 ms");
  CHECK(p.w.item("experimentRow0")->property("strip").toMap()["dots"].toList().size() == 8);
  p.key(Qt::Key_Down);
  p.key(Qt::Key_Return);
  CHECK(p.e.rows()->currentRow() == 1);
  p.key(Qt::Key_BracketRight);
  CHECK(p.e.rows()->currentRow() == 2);
  p.click("experimentRow0");
  CHECK(p.e.rows()->currentRow() == 0);
  p.key(Qt::Key_Escape);
  CHECK_FALSE(p.e.shown());
}

TEST_CASE("experiment page: headings sort, the field and the chips filter, metrics change the numbers") {
  ExperimentPage p({.failing = true});
  p.e.openFiles({p.path(p.after)});
  p.settle();
  p.click("experimentSort-median");
  CHECK(p.names().front() == "DEV=CPU NOOPT=0");
  p.click("experimentSort-median");
  CHECK(p.names().front() == "DEV=REF NOOPT=1");
  CHECK(p.text("experimentWarning").contains("1 run failed"));
  p.click("experimentFilter-failed");
  CHECK(p.names() == QStringList{"DEV=CPU NOOPT=0"});
  CHECK(p.text("experimentSource").contains("no such size"));
  p.click("experimentFilter-all");
  p.key(Qt::Key_Slash);
  p.w.type("ref");
  CHECK(p.e.rows()->shown() == 2);
  p.key(Qt::Key_Escape);
  CHECK(p.e.rows()->shown() == 4);
  CHECK(p.e.shown());
  p.click("experimentMetric-peak memory");
  CHECK(p.w.item("experimentRow0")->property("median").toString() == "50.0 MB");
  CHECK(p.e.rows()->axis().front() == "0");
  p.click("experimentZero");
  CHECK(p.e.rows()->axis().front() == "50.0 MB");
}

TEST_CASE("experiment page: cells of one file are compared, with every metric and the kernels of the pair") {
  ExperimentPage p;
  p.open();
  p.click("experimentMode-pairs");
  CHECK(p.e.comparing());
  CHECK(p.text("experimentHeadline") == "4 worse");
  CHECK(p.w.item("experimentRow0")->property("verdict").toString() == "worse");
  CHECK(p.w.item("experimentRow3")->property("name").toString() == "NOOPT 0 to 1 (DEV=REF)");
  p.click("experimentRow3");
  CHECK(p.e.facts().front().toMap()["change"].toString() == "+19.9 %");
  CHECK(p.e.kernels().size() == 2);
  p.click("experimentKernel1");
  CHECK(p.text("experimentSource").contains("void r_4_4() { /* 0 */ }"));
  p.click("experimentMetric-peak memory");
  CHECK(p.text("experimentHeadline") == "4 no difference");
  p.click("experimentMode-cells");
  CHECK_FALSE(p.e.comparing());
}

TEST_CASE("experiment page: two files are compared; a planted five per cent is found, and sides swap") {
  ExperimentPage p;
  p.openBoth();
  CHECK(p.text("experimentHeadline") == "4 worse");
  CHECK(p.w.item("experimentRow0")->property("change").toString() == "+5.0 %");
  p.click("experimentFilter-worse");
  CHECK(p.e.rows()->shown() == 4);
  p.click("experimentSwap");
  CHECK(p.text("experimentHeadline") == "4 better");
  p.click("experimentSort-change");
  CHECK(p.e.rows()->sortColumn() == "change");
  p.e.openFiles({p.path(p.before), p.path(p.before)});
  p.settle();
  CHECK(p.text("experimentHeadline") == "4 no difference");
}

TEST_CASE("experiment page: the compilations of two cells go to the page of replays") {
  const TempCorpus first{commits::of(commits::kFirst)}, off{commits::of(commits::kOff)};
  ExperimentPage p({.corpora = {first.path, off.path}});
  ReplayModel& replay = *p.w.tools.replay();
  p.openBoth();
  CHECK_FALSE(p.w.item("experimentCompilations")->isVisible()); // the first file has none
  p.e.openFiles({p.path(p.after)});
  p.settle();
  p.click("experimentMode-pairs");
  p.click("experimentRow0");
  p.click("experimentCompilations");
  REQUIRE(waitFor([&] { return replay.state() == "ready" && replay.settled(); }));
  p.w.settle();
  CHECK(p.w.item("replayPage")->isVisible());
  CHECK(replay.headline().size() > 0);
  CHECK(p.w.item("replayRow0")->isVisible());
}

TEST_CASE(
    "experiment page: two files dropped are compared, one is opened, and a chosen one becomes the second") {
  ExperimentPage p;
  QMimeData files;
  files.setUrls({QUrl::fromLocalFile(p.path(p.before)), QUrl::fromLocalFile(p.path(p.after))});
  const QPoint at(400, 300);
  QDragEnterEvent enter(at, Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(p.w.window, &enter);
  QDropEvent drop(at, Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(p.w.window, &drop);
  p.settle();
  CHECK(p.e.comparing());
  p.open();
  CHECK_FALSE(p.e.comparing());
  p.click("experimentCompare");
  CHECK(p.w.popupOpen("filePopup"));
  p.w.tools.files()->setName(p.path(p.after));
  CHECK(p.w.tools.files()->choose());
  p.settle();
  CHECK(p.e.comparing());
}

TEST_CASE("experiment page: a file that is none is said to be so, and a trace that opens takes the window") {
  ExperimentPage p;
  QTemporaryDir folder;
  const QString bad = folder.filePath("bad.uopbench");
  REQUIRE(QFile::copy(QStringLiteral(UOPSCOPE_SOURCE_DIR "/README.md"), bad));
  p.w.session.open(bad);
  p.settle();
  CHECK(p.e.state() == "error");
  CHECK(p.text("experimentError").contains(bad));
  p.click("experimentBack");
  CHECK_FALSE(p.e.shown());
  p.open();
  p.w.session.open(compiledTrace());
  p.settle();
  CHECK_FALSE(p.e.shown());
}

TEST_CASE("experiment page: the visible table and the page are exported") {
  ExperimentPage p;
  p.openBoth();
  QTemporaryDir folder;
  for (const char* name : {"a.csv", "a.json", "a.html"}) {
    const QString file = folder.filePath(name);
    CHECK(p.e.exportTo(file).isEmpty());
    QFile in(file);
    REQUIRE(in.open(QIODevice::ReadOnly));
    CHECK(in.readAll().contains("worse"));
  }
  CHECK_FALSE(p.e.exportTo("/no/such/folder/a.csv").isEmpty());
}

TEST_CASE("experiment page: a page that closes as soon as it is ready calls nothing that is gone") {
  ExperimentPage p;
  // A page that closes when the file has been read asks for the keyboard in the same moment.
  QObject::connect(&p.e, &ExperimentModel::changed, p.w.window, [&] {
    if (p.e.state() == "ready" && p.e.shown()) p.e.setShown(false);
  });
  for (int k = 0; k < 20; ++k) {
    p.e.openFiles({p.path(p.before)});
    p.settle();
    CHECK_FALSE(p.e.shown());
  }
}

TEST_CASE("experiment page: looks as it did, in both themes") {
  ExperimentPage p;
  p.w.window->resize(1200, 760);
  p.openBoth();
  for (const char* theme : {"dark", "light"}) {
    p.w.theme.setName(theme);
    p.settle();
    checkGolden(*p.w.window, QStringLiteral("experiment-") + theme);
  }
}
