// The laboratory and the classroom in the window: the story in chapters, a talk of bookmarks, the rewrite behind a line, the
// script edited and recorded again, the candidates of a search, a rule's pictures. The program does the work.
#include "engine/base/context_var.h"
#include "tests/viz/program.h"
#include "tests/viz/window_support.h"

#include <QFile>
#include <QTemporaryDir>

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// A kernel whose candidates were told as a search tells them.
QString searchedTrace() {
  static const TempTrace file;
  static const QString path = [] {
    RecordingSession recording({.path = file.path});
    const TensorOptions cpu{.device = "CPU"};
    const Tensor a = Tensor::empty({32, 32}, cpu).realize(), b = Tensor::empty({32, 32}, cpu).realize();
    const ContextScope beam({{"BEAM", 2}, {"IGNORE_BEAM_CACHE", 1}});
    a.matmul(b).realize();
    return QString::fromStdString(file.path);
  }();
  return path;
}

void toKernel(Window& w) {
  for (const ScopeInfo& s : w.session.trace()->scopes())
    if (s.kind == ScopeKind::Kernel) w.session.goToScope(s.id);
  w.settle();
}

} // namespace

TEST_CASE("laboratory: the story of a kernel, and a click on a sentence goes to its pass") {
  Window w(productTrace());
  toKernel(w);
  w.session.trigger("tab-story");
  w.settle();
  REQUIRE(waitFor([&] { return !w.tools.story()->chapters().isEmpty(); }));
  w.settle();
  CHECK(w.item("storyPane")->isVisible());
  CHECK(w.tools.story()->chapters().size() >= 8);
  CHECK(w.item("storyTitle0")->property("text").toString().startsWith("1. "));
  // The first sentence about a pass.
  const QVariantList chapters = w.tools.story()->chapters();
  qlonglong pass = 0;
  for (int c = 0; c < chapters.size() && pass == 0; ++c) {
    const QVariantList sentences = chapters[c].toMap()["sentences"].toList();
    for (int k = 0; k < sentences.size() && pass == 0; ++k) pass = sentences[k].toMap()["pass"].toLongLong();
  }
  REQUIRE(pass > 0);
  const QTemporaryDir folder;
  CHECK(w.tools.story()->exportTo(folder.filePath("s.html")).isEmpty());
  CHECK(w.tools.story()->exportTo(folder.filePath("s.pdf")).contains(".html or .txt"));
  w.tools.story()->goTo(pass);
  w.settle();
  CHECK(w.session.tab() == "graph");
  CHECK(w.session.pass() == pass);
}

TEST_CASE("laboratory: bookmarks in order are a talk") {
  const QTemporaryDir folder;
  const QString trace = folder.filePath("talk.uoptrace");
  REQUIRE(QFile::copy(productTrace(), trace));
  Window w(trace);
  Bookmarks& marks = *w.tools.bookmarks();
  w.session.trigger("next-mark");
  CHECK(w.session.notice().contains("No bookmarks"));
  toKernel(w);
  const char* notes[] = {"the kernel begins", "a step later", "and the next pass"};
  for (const char* note : notes) {
    CHECK(marks.add(note) >= 0);
    w.session.trigger(marks.count() < 2 ? "next-step" : "next-pass");
    w.settle();
  }
  REQUIRE(marks.count() == 3);
  CHECK_FALSE(w.item("talkBar")->isVisible());
  w.key(Qt::Key_Down, Qt::AltModifier);
  CHECK(w.item("talkBar")->isVisible());
  CHECK(w.item("talkNote")->property("text").toString() == "the kernel begins");
  w.key(Qt::Key_Down, Qt::AltModifier);
  CHECK(w.item("talkNote")->property("text").toString() == "a step later");
  CHECK(w.session.link() == marks.data(marks.index(1), Bookmarks::LinkRole).toString());
  w.click(w.item("talkOn"));
  w.key(Qt::Key_Down, Qt::AltModifier);
  CHECK(w.session.notice().contains("last bookmark"));
  w.key(Qt::Key_Up, Qt::AltModifier);
  CHECK(marks.current() == 1);
  // The order is that of the talk, and it is kept beside the trace.
  marks.move(2, -1);
  CHECK(marks.current() == 2);
  CHECK(marks.data(marks.index(1), Bookmarks::NoteRole).toString() == "and the next pass");
  w.click(w.item("talkEnd"));
  CHECK_FALSE(w.item("talkBar")->isVisible());
  w.session.open(trace);
  w.settle();
  CHECK(marks.data(marks.index(1), Bookmarks::NoteRole).toString() == "and the next pass");
}

TEST_CASE("laboratory: the rewrite that made a line of the code, and the way to its step") {
  if (program().isEmpty()) return;
  Window w(productTrace());
  BisectModel& bisect = *w.tools.bisect();
  bisect.setProgram(program());
  toKernel(w);
  w.session.trigger("tab-source");
  w.settle();
  CHECK_FALSE(w.item("bisectBar")->isVisible());
  int line = 0;
  for (int k = 1; k <= w.session.code()->lineCount(); ++k)
    if (w.session.code()->plainText(k, k).contains("<< 3")) line = k;
  REQUIRE(line > 0);
  bisect.ofLine(w.session.code()->plainText(line, line));
  CHECK(w.item("bisectBar")->isVisible());
  CHECK(w.item("bisectQuestion")->property("text").toString().contains("<< 3"));
  w.window->grabWindow(); // the bar has its place when it is drawn
  if (bisect.busy()) {
    const QQuickItem *question = w.item("bisectQuestion"), *cancel = w.item("bisectCancel");
    CHECK(question->mapToScene({question->width(), 0}).x() <= cancel->mapToScene({0, 0}).x());
    CHECK(cancel->mapToScene({cancel->width(), 0}).x() > w.window->width() - 60);
  }
  REQUIRE(waitFor([&] { return !bisect.busy(); }, 120000));
  w.settle();
  CAPTURE(bisect.text().toStdString());
  CHECK_FALSE(bisect.failed());
  REQUIRE(bisect.text().contains("line"));
  if (bisect.hasStep()) { // else the line is there without any optional rewrite
    w.click(w.item("bisectStep"));
    CHECK(w.session.tab() == "graph");
    CHECK(w.session.step() > 0);
  }
  w.click(w.item("bisectClose"));
  CHECK_FALSE(w.item("bisectBar")->isVisible());
  bisect.ofLine("nothing that is there");
  REQUIRE(waitFor([&] { return !bisect.busy(); }, 120000));
  CHECK(bisect.failed());
  CHECK(bisect.text().contains("no line of"));
}

TEST_CASE("laboratory: the script is edited, recorded again, and compared with the state before") {
  if (program().isEmpty()) return;
  const QTemporaryDir folder;
  const QString script = folder.filePath("small.py");
  QFile out(script);
  REQUIRE(out.open(QIODevice::WriteOnly));
  out.write("from tinygrad import Tensor\nprint((Tensor([1.0, 2.0]).realize() + 1).tolist())\n");
  out.close();
  Window w;
  w.session.setRecorderProgram(program());
  w.session.open(script);
  REQUIRE(waitFor(
      [&] {
        return w.session.state() == "ready" && !w.session.recorder()->running() && !w.session.growing();
      },
      120000));
  w.settle();
  const QString before = w.session.path();
  w.session.trigger("tab-script");
  w.settle();
  w.tools.editor()->edit();
  w.settle();
  CHECK(w.item("scriptEditPane")->isVisible());
  CHECK(w.tools.editor()->text().contains("+ 1"));
  CHECK_FALSE(w.tools.editor()->unsaved());
  w.tools.editor()->setText(w.tools.editor()->text().replace("+ 1", "* 3"));
  CHECK(w.tools.editor()->unsaved());
  w.click(w.item("editRun"));
  REQUIRE(waitFor(
      [&] {
        return w.session.state() == "ready" && !w.session.recorder()->running() && !w.session.growing();
      },
      120000));
  w.settle();
  CHECK(w.session.path() != before);
  CHECK(w.tools.editor()->before() == before);
  QFile in(script);
  REQUIRE(in.open(QIODevice::ReadOnly));
  CHECK(in.readAll().contains("* 3"));
  CHECK(w.item("scriptEditPane")->isVisible());
  w.click(w.item("editCompare"));
  REQUIRE(waitFor([&] { return w.tools.replay()->state() == "ready"; }, 60000));
  CHECK(w.tools.replay()->headline().contains("changed"));
  w.tools.replay()->setShown(false);
  // A script that another program changed is not overwritten at once.
  QTest::qWait(20);
  QFile other(script);
  REQUIRE(other.open(QIODevice::WriteOnly));
  other.write("# changed by another program\n");
  other.close();
  w.tools.editor()->setText("print(1)\n");
  CHECK_FALSE(w.tools.editor()->save());
  CHECK(w.session.notice().contains("changed on disk"));
  CHECK(w.tools.editor()->save());
}

TEST_CASE("laboratory: the candidates of a search are a cloud, and a click flips one") {
  if (program().isEmpty()) return;
  Window w(searchedTrace());
  w.tools.whatIf()->setProgram(program());
  toKernel(w);
  w.session.trigger("tab-whatif");
  w.settle();
  REQUIRE(waitFor([&] { return w.tools.candidates()->count() >= 2; }));
  w.settle();
  CHECK(w.item("candidatesPane")->isVisible());
  CHECK(w.tools.candidates()->summary().contains("ran"));
  bool priced = false, chosen = false;
  for (const QVariant& d : w.tools.candidates()->dots()) {
    priced = priced || d.toMap()["price"].toDouble() > 0;
    chosen = chosen || d.toMap()["chosen"].toBool();
  }
  CHECK(priced);
  CHECK(chosen);
  w.click(w.item("candidate1"));
  CHECK(w.tools.whatIf()->count() == 2); // the kernel as it is, and with these Opts
  REQUIRE(waitFor([&] { return !w.tools.whatIf()->busy(); }, 120000));
}

TEST_CASE("laboratory: a rule's pattern and what it makes are drawn") {
  if (program().isEmpty()) return;
  Window w(productTrace());
  RuleModel& rule = *w.tools.rule();
  rule.setProgram(program());
  w.session.trigger("tab-rule");
  w.settle();
  CHECK(rule.chosen() == -1);
  CHECK_FALSE(w.item("rulePictures")->isVisible());
  w.click(w.item("ruleRun"));
  REQUIRE(waitFor([&] { return !rule.busy(); }, 120000));
  w.settle();
  REQUIRE(rule.chosen() == 0);
  CHECK(w.item("rulePictures")->isVisible());
  REQUIRE(rule.pattern()->picture());
  REQUIRE(rule.rewrite()->picture());
  auto has = [](const PicturePtr& p, const char* op, Mark mark) {
    return std::ranges::any_of(p->nodes, [&](const PictureNode& n) { return n.op == op && n.mark == mark; });
  };
  CHECK(has(rule.pattern()->picture(), "MUL", Mark::Same));
  CHECK(has(rule.rewrite()->picture(), "MUL", Mark::Removed));
  CHECK(has(rule.rewrite()->picture(), "SHL", Mark::Added));
  w.click(w.item("ruleGo"));
  CHECK(w.session.tab() == "graph");
}
