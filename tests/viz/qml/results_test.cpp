// Results of questions: a query's rows, a buffer of the timeline, a row of the statistics, a view as a file,
// a sample of the first page. By mouse, on real traces.
#include "tests/viz/window_support.h"
#include "viz/scene/timeline_view.h"

#include <QFile>
#include <QMimeData>
#include <QTemporaryDir>

using namespace uopscope;
using namespace uopscope::test;

namespace {

// The middle of a cell of the result, whatever the widths of its columns.
QPoint cell(Window& w, int row, int column) {
  QQuickItem* table = w.item("sqlTable");
  const double width = table->width() / w.tools.sql()->columnCount();
  return table->mapToScene(QPointF((column + 0.5) * width, (row + 0.5) * 25)).toPoint();
}

} // namespace

TEST_CASE(
    "results: rows of a query are sorted by a click, colour the graph, mark it, and become a condition") {
  Window w(compiledTrace());
  w.key(Qt::Key_9, Qt::ControlModifier);
  w.tools.sql()->run("SELECT id AS step, before AS node, took_ns FROM step WHERE pass = " +
                     QString::number(w.session.pass()));
  w.settle();
  SqlModel& sql = *w.tools.sql();
  REQUIRE(sql.rowCount() > 3);
  w.click(w.item("sqlHeader2"));
  CHECK(sql.sortColumn() == 2);
  const auto number = [&](int row, int column) {
    return sql.data(sql.index(row, column), Qt::DisplayRole).toLongLong();
  };
  CHECK(number(0, 2) <= number(sql.rowCount() - 1, 2));
  w.click(w.item("sqlHeader2"));
  CHECK(sql.descending());
  CHECK(number(0, 2) >= number(sql.rowCount() - 1, 2));

  QTest::mouseClick(w.window, Qt::LeftButton, {}, cell(w, 0, 2)); // chooses the column
  w.settle();
  w.click(w.item("sqlColour"));
  CHECK(w.session.graph()->colourBy() == "query");
  CHECK(w.session.graph()->answerTitle() == "took_ns");
  w.session.setTab("sql");
  w.settle();
  QTest::mouseClick(w.window, Qt::LeftButton, {}, cell(w, 0, 1));
  w.settle();
  w.click(w.item("sqlMark"));
  CHECK(w.session.tab() == "graph");
  CHECK(w.session.graph()->notesShown());
  w.session.setTab("sql");
  w.settle();
  QTest::mouseClick(w.window, Qt::LeftButton, {}, cell(w, 0, 0));
  w.settle();
  w.click(w.item("sqlCondition"));
  CHECK(w.tools.conditions()->text().startsWith("where step.id IN ("));

  const qlonglong step = number(1, 0);
  w.doubleClick(cell(w, 1, 0));
  CHECK(w.session.tab() == "graph");
  CHECK(w.session.traceStep() == step);
}

TEST_CASE("results: a row of the statistics leads to its steps, a kernel's to the kernel") {
  Window w(compiledTrace());
  w.key(Qt::Key_6, Qt::ControlModifier);
  REQUIRE(w.session.stats()->shown() > 0);
  w.session.stats()->setShow("applied");
  w.settle();
  QQuickItem* table = w.item("statsTable");
  QTest::mouseClick(w.window, Qt::LeftButton, {}, table->mapToScene(QPointF(60, 14)).toPoint());
  w.settle();
  w.click(w.item("statsSteps"));
  CHECK(w.session.tab() == "sql");
  CHECK(w.tools.sql()->rowCount() > 0);
  w.key(Qt::Key_6, Qt::ControlModifier);
  w.session.setStatsGroup("kernel");
  w.settle();
  REQUIRE(w.session.stats()->shown() >= 2);
  QTest::mouseClick(w.window, Qt::LeftButton, {}, table->mapToScene(QPointF(60, 14 + 28)).toPoint());
  w.settle();
  const qlonglong scope = w.session.stats()->row(1)["scope"].toLongLong();
  w.click(w.item("statsGo"));
  CHECK(w.session.scope() == scope);
  CHECK(w.session.tab() == "graph");
}

TEST_CASE("results: a buffer of the timeline is pointed at and clicked, everything is one click away") {
  const KeptTrace kept(3);
  Window w(kept.path);
  w.key(Qt::Key_8, Qt::ControlModifier);
  TimelineModel& timeline = *w.tools.timeline();
  REQUIRE(waitFor([&] { return timeline.ready(); }));
  w.settle();
  auto* view = qobject_cast<TimelineView*>(w.item("timelineView"));
  REQUIRE(view);
  int buffer = -1;
  QPointF at;
  for (int y = 0; y < view->height() && buffer < 0; y += 3)
    for (int x = 200; x < view->width() && buffer < 0; x += 5)
      if (buffer = view->bufferAt(x, y); buffer >= 0) at = QPoint(x, y);
  REQUIRE(buffer >= 0);
  QTest::mouseMove(w.window, view->mapToScene(at).toPoint());
  w.settle();
  CHECK(view->hoveredBuffer() == buffer);
  QTest::mouseClick(w.window, Qt::LeftButton, {}, view->mapToScene(at).toPoint());
  w.settle();
  CHECK(timeline.buffers().size() == 1);
  CHECK(timeline.selection().startsWith("Buffer"));
  const double begin = timeline.from();
  w.click(w.item("timelineAll"));
  CHECK(timeline.from() <= begin);
  CHECK(timeline.from() == static_cast<double>(timeline.data()->begin));
  w.click(w.item("timelineWork"));
  CHECK(timeline.from() == begin);
}

TEST_CASE("results: a line of the script is jumped to by the palette, and linked to what it made") {
  const KeptTrace kept(3);
  Window w(kept.path);
  w.key(Qt::Key_P, Qt::ControlModifier);
  w.type("line");
  int row = -1;
  for (int i = 0; i < w.session.jump()->palette()->count() && row < 0; ++i)
    if (w.session.jump()->palette()->entry(i)["text"].toString().startsWith("line ")) row = i;
  REQUIRE(row >= 0);
  const int line = w.session.jump()->palette()->entry(row)["text"].toString().split(' ')[1].toInt();
  for (int i = 0; i < row; ++i) w.key(Qt::Key_Down);
  w.key(Qt::Key_Return);
  CHECK(w.session.trace()->scope(w.session.scope()).script.line == line);
  // The recording was started by a relative path; its lines still belong to the script.
  CHECK(w.session.trace()->scriptName() == "fixture.py");
  CHECK(w.session.trace()->scriptFile().file == "/home/me/fixture.py");
  w.key(Qt::Key_3, Qt::ControlModifier);
  REQUIRE(waitFor([&] { return w.tools.linked()->script()->count() > 0; }));
  int known = 0;
  for (const auto& l : w.tools.linked()->script()->lines()) known += l.known;
  CHECK(known > 0);
}

TEST_CASE("results: what is in front is what is exported, and a wrong name is told") {
  const KeptTrace kept(3);
  Window w(kept.path);
  const std::pair<const char*, const char*> files[] = {
      {"graph", ".svg"},    {"source", ".c"},     {"ir", ".ll"},       {"asm", ".s"},     {"uops", ".txt"},
      {"script", ".py"},    {"links", ".png"},    {"compare", ".svg"}, {"stats", ".csv"}, {"profile", ".svg"},
      {"timeline", ".png"}, {"timeline", ".svg"}, {"sql", ".json"}};
  for (const auto& [tab, ending] : files) {
    w.session.setTab(QLatin1String(tab));
    if (QLatin1String(tab) == QLatin1String("profile"))
      REQUIRE(waitFor([&] { return w.tools.profile()->ready(); }));
    if (QLatin1String(tab) == QLatin1String("timeline"))
      REQUIRE(waitFor([&] { return w.tools.timeline()->ready(); }));
    if (QLatin1String(tab) == QLatin1String("sql")) w.tools.sql()->run("SELECT 1 AS one");
    w.settle();
    const QString path = kept.folder.filePath(QLatin1String(tab) + QLatin1String(ending));
    QMetaObject::invokeMethod(w.window, "exportTo", Q_ARG(QVariant, path));
    INFO(path.toStdString(), ": ", w.session.notice().toStdString());
    CHECK(waitFor([&] { return QFile(path).size() > 8; }, 5000));
    CHECK(w.session.notice().contains("Written"));
    if (QString::fromLatin1(ending) == ".svg") {
      QFile in(path);
      REQUIRE(in.open(QIODevice::ReadOnly));
      CHECK(in.readAll().contains("<svg"));
    }
  }
  w.session.setTab("profile");
  w.settle();
  QMetaObject::invokeMethod(w.window, "exportTo", Q_ARG(QVariant, kept.folder.filePath("x.doc")));
  CHECK(w.session.notice().contains(".svg or .png"));
}

TEST_CASE("results: the first page records a sample and leads to what it is for; a script is dropped") {
  QTemporaryDir samples;
  QFile file(samples.filePath("matmul.py"));
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write(
      "# A product.\nfrom tinygrad import Tensor\nTensor.empty(4, 4).matmul(Tensor.empty(4, 4)).realize()\n");
  file.close();
  qputenv("UOPSCOPE_SAMPLES", samples.path().toUtf8());
  {
    Window w;
    const QString program = QCoreApplication::applicationDirPath() + "/bin/uopscope";
    if (!QFile::exists(program)) return;
    w.session.setRecorderProgram(program);
    w.click(w.item("try0"));
    REQUIRE(
        waitFor([&] { return w.session.state() == "ready" && !w.session.recorder()->running(); }, 60'000));
    CHECK(waitFor([&] { return w.session.tab() == "compare"; }));
    w.settle();
    w.session.close();
    QMimeData files;
    files.setUrls({QUrl::fromLocalFile(file.fileName())});
    QDropEvent drop(QPoint(400, 300), Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
    QDragEnterEvent enter(QPoint(400, 300), Qt::CopyAction, &files, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(w.window, &enter);
    QCoreApplication::sendEvent(w.window, &drop);
    CHECK(waitFor([&] { return w.session.state() == "ready" && !w.session.recorder()->running(); }, 60'000));
    w.settle();
    QFile::remove(w.session.path());
  }
  qunsetenv("UOPSCOPE_SAMPLES");
}
