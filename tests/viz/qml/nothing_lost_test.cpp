// Nothing is lost and nothing hangs: files are never replaced without a question, a click moves the keyboard,
// a script that fails shows the place, and a cancelled one ends.
#include "tests/viz/window_support.h"

#include <QCoreApplication>
#include <QFile>
#include <QTemporaryDir>
#include <csignal>
#include <fstream>

using namespace uopscope;
using namespace uopscope::test;

namespace {

QByteArray contentOf(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void write(const QString& path, const QByteArray& text) {
  QFile file(path);
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write(text);
}

QString textOf(QQuickItem* item) {
  return item->property("text").toString();
}

/// A window that records `script`, or nothing where the program is missing beside the tests.
struct Recording {
  Window w;
  QTemporaryDir folder;
  QString script = folder.filePath("model.py");
  bool begin(const QByteArray& text) {
    const QString program = QCoreApplication::applicationDirPath() + "/bin/uopscope";
    if (!QFile::exists(program)) return false;
    write(script, text);
    w.session.setRecorderProgram(program);
    w.session.open(script);
    return true;
  }
  bool ended(int ms) {
    return waitFor([&] { return !w.session.recorder()->running(); }, ms);
  }
};

/// The number of the script's process, which the script writes itself; none without Python.
pid_t processOf(const QString& file) {
  if (!waitFor([&] { return contentOf(file).endsWith('\n'); }, 20000)) return 0;
  return contentOf(file).trimmed().toInt();
}

// An ended process may still wait for its parent to collect it.
bool runs(pid_t process) {
  if (kill(process, 0) != 0) return false;
  std::ifstream status("/proc/" + std::to_string(process) + "/stat");
  std::string number, name, state;
  status >> number >> name >> state;
  return !state.empty() && state != "Z" && state != "X";
}

QByteArray endless(const QString& pidFile) {
  return "import os\nfrom tinygrad import Tensor\n"
         "(Tensor.empty(4, 4, device='NULL') @ Tensor.empty(4, 4, device='NULL')).realize()\n"
         "open('" +
         pidFile.toUtf8() +
         "', 'w').write(str(os.getpid()) + chr(10))\n"
         "while True: pass\n";
}

} // namespace

TEST_CASE("a graph in DOT of anybody is opened, and one that is none says why") {
  Recording r;
  const QString program = QCoreApplication::applicationDirPath() + "/bin/uopscope";
  if (!QFile::exists(program)) return;
  Window& w = r.w;
  w.session.setRecorderProgram(program);
  const QString file = r.folder.filePath("their.dot"), bad = r.folder.filePath("bad.gv");
  write(file, "digraph G { subgraph cluster { a [label=\"größe\"]; b } -> c; c -> a }");
  w.session.open(file);
  REQUIRE(waitFor([&] { return w.session.state() == "ready" && !w.session.recorder()->running(); }, 60000));
  w.settle();
  REQUIRE(w.session.graph()->picture());
  CHECK(w.session.graph()->nodeCount() == 4); // and the sink
  w.session.recordAgain();                    // reads the file again
  REQUIRE(waitFor([&] { return w.session.state() == "ready" && !w.session.recorder()->running(); }, 60000));
  write(bad, "digraph {\n a -> }");
  w.session.open(bad);
  REQUIRE(waitFor([&] { return w.session.state() == "error"; }, 60000));
  CHECK(w.session.errorText().contains("line 2"));
  w.settle();
}

TEST_CASE("nothing lost: export suggests a name, keeps what is there, and replaces it when told to") {
  QTemporaryDir folder;
  Window w(compiledTrace());
  w.key(Qt::Key_E, kCtrl);
  REQUIRE(w.popupOpen("filePopup"));
  QQuickItem* name = w.item("fileName");
  CHECK(name->hasActiveFocus());
  CHECK(textOf(name).endsWith(".svg"));
  CHECK(textOf(name).contains(w.session.passName().left(4).replace(' ', '_')));
  // A path may be typed; a folder is entered.
  w.key(Qt::Key_A, kCtrl);
  w.type(folder.path());
  w.key(Qt::Key_Return);
  REQUIRE(w.popupOpen("filePopup"));
  CHECK(textOf(w.item("fileFolder")) == folder.path());
  w.type("a.png");
  w.key(Qt::Key_Return);
  CHECK_FALSE(w.popupOpen("filePopup"));
  const QString path = folder.filePath("a.png");
  REQUIRE(contentOf(path).size() > 100);
  write(path, "mine");
  w.key(Qt::Key_E, kCtrl);
  w.click(w.item("file-a.png")); // a click takes over the whole name
  CHECK(textOf(w.item("fileName")) == "a.png");
  w.key(Qt::Key_Return);
  w.key(Qt::Key_Return); // any number of times
  CHECK(w.popupOpen("filePopup"));
  CHECK(contentOf(path) == "mine");
  CHECK(textOf(w.item("fileProblem")).contains("a.png is there already"));
  CHECK(w.item("fileReplace")->isVisible());
  w.click(w.item("fileReplace"));
  CHECK_FALSE(w.popupOpen("filePopup"));
  CHECK(contentOf(path).size() > 100);
}

TEST_CASE("nothing lost: the format changes the ending, a name without one gets it, Escape writes nothing") {
  QTemporaryDir folder;
  Window w(compiledTrace());
  w.key(Qt::Key_E, kCtrl);
  w.click(w.item("fileEnding-png"));
  CHECK(textOf(w.item("fileName")).endsWith(".png"));
  w.item("fileName")->forceActiveFocus();
  w.key(Qt::Key_A, kCtrl);
  w.type(folder.path() + "/plain");
  w.key(Qt::Key_Escape);
  CHECK_FALSE(w.popupOpen("filePopup"));
  CHECK_FALSE(QFile::exists(folder.filePath("plain.svg")));
  w.key(Qt::Key_E, kCtrl);
  w.key(Qt::Key_A, kCtrl);
  w.type(folder.path() + "/plain");
  w.click(w.item("fileChoose"));
  CHECK(contentOf(folder.filePath("plain.svg")).contains("<svg"));
  w.key(Qt::Key_E, kCtrl);
  w.key(Qt::Key_A, kCtrl);
  w.type("/no/such/folder/x.svg");
  w.key(Qt::Key_Return);
  CHECK(textOf(w.item("fileProblem")).contains("/no/such/folder"));
}

TEST_CASE("nothing lost: a file is opened by a click and a double click") {
  QTemporaryDir folder;
  REQUIRE(QFile::copy(expressionTrace(), folder.filePath("kept.uoptrace")));
  write(folder.filePath("notes.txt"), "not offered");
  Window w;
  w.key(Qt::Key_O, kCtrl);
  REQUIRE(w.popupOpen("filePopup"));
  w.type(folder.path());
  w.key(Qt::Key_Return);
  CHECK_FALSE(below(w.window->contentItem(), "file-notes.txt"));
  QQuickItem* row = below(w.item("fileList"), "file-kept.uoptrace");
  REQUIRE(row);
  w.click(row);
  w.click(w.item("fileChoose"));
  CHECK(waitFor([&] { return w.session.state() == "ready"; }));
}

TEST_CASE("nothing lost: keys go where one clicked, never into a field that is hidden") {
  Window w(compiledTrace());
  w.key(Qt::Key_9, kCtrl);
  QQuickItem* editor = w.item("sqlText");
  w.click(editor);
  REQUIRE(editor->hasActiveFocus());
  const QString query = textOf(editor);
  w.key(Qt::Key_1, kCtrl);
  const qlonglong step = w.session.step();
  w.key(Qt::Key_Right);
  CHECK(w.session.step() == step + 1);
  CHECK(textOf(editor) == query);
  // The filter of the tree gives up the keyboard when another place is clicked.
  w.key(Qt::Key_F, kCtrl | Qt::ShiftModifier);
  REQUIRE(w.window->property("typing").toBool());
  w.click(w.item("stepList"));
  CHECK_FALSE(w.window->property("typing").toBool());
  w.key(Qt::Key_Home);
  CHECK(w.session.step() == 0);
}

TEST_CASE(
    "nothing lost: a script that raises says what, where, and leads to its line, last pass and output") {
  Recording r;
  if (!r.begin("from tinygrad import Tensor\n"
               "a = Tensor.empty(16, 16, device='NULL')\n"
               "(a @ a).relu().realize()\n"
               "print('so far so good')\n"
               "a.reshape(3, 5)\n"))
    return;
  Window& w = r.w;
  REQUIRE(r.ended(60000));
  REQUIRE(waitFor([&] { return w.session.state() == "error" || !w.session.growing(); }));
  if (w.session.state() == "error") return; // built without Python
  w.settle();
  const QString trace = w.session.path();
  for (const bool again : {false, true}) {
    if (again) { // the trace keeps the output
      w.session.close();
      w.session.open(expressionTrace());
      w.settle();
      w.session.open(trace);
      w.settle();
    }
    CHECK(textOf(w.item("bannerText")).contains("can't reshape (16, 16) -> (3, 5)"));
    w.click(w.item("bannerLine"));
    CHECK(w.session.tab() == "script");
    CHECK(w.session.scriptCode()->faultLine() == 5);
    CHECK(w.item("codeList") != nullptr);
    bool marked = false;
    std::function<void(QQuickItem*)> look = [&](QQuickItem* item) {
      marked |= item->objectName() == "faultMark" && item->isVisible();
      for (QQuickItem* child : item->childItems()) look(child);
    };
    look(w.window->contentItem());
    CHECK(marked);
    w.click(w.item("bannerLast"));
    CHECK(w.session.tab() == "graph");
    CHECK(w.session.step() == w.session.stepCount());
    w.click(w.item("bannerOutput"));
    CHECK(textOf(w.item("outputText")).contains("so far so good"));
    w.key(Qt::Key_Escape);
    CHECK_FALSE(w.item("output")->isVisible());
    w.key(Qt::Key_U, kCtrl);
    CHECK(w.item("output")->isVisible());
    w.key(Qt::Key_Escape);
  }
}

TEST_CASE("nothing stuck: Cancel ends an endless script within a second, and the window says so") {
  Recording r;
  const QString pidFile = r.folder.filePath("pid");
  if (!r.begin(endless(pidFile))) return;
  const pid_t script = processOf(pidFile);
  if (script == 0) return; // built without Python
  QElapsedTimer clock;
  clock.start();
  r.w.session.recorder()->cancel();
  REQUIRE(r.ended(4000));
  CHECK(clock.elapsed() < 1500);
  CHECK_FALSE(runs(script));
  REQUIRE(waitFor([&] { return r.w.session.state() == "ready" && !r.w.session.growing(); }));
  r.w.settle();
  CHECK(textOf(r.w.item("bannerText")).contains("interrupted"));
  CHECK_FALSE(textOf(r.w.item("bannerText")).contains("still going on"));
}

TEST_CASE("nothing stuck: a recorder that is killed takes the script along, and nothing is waited for") {
  Recording r;
  const QString pidFile = r.folder.filePath("pid");
  if (!r.begin(endless(pidFile))) return;
  const pid_t script = processOf(pidFile);
  if (script == 0) return;
  REQUIRE(waitFor([&] { return r.w.session.state() == "ready"; }));
  std::ifstream stat("/proc/" + std::to_string(script) + "/stat");
  std::string number, name, state;
  pid_t recorder = 0;
  stat >> number >> name >> state >> recorder;
  REQUIRE(recorder > 1);
  kill(recorder, SIGKILL);
  REQUIRE(r.ended(2000));
  CHECK(waitFor([&] { return !runs(script); }, 1500));
  REQUIRE(waitFor([&] { return !r.w.session.growing(); }, 3000));
  CHECK_FALSE(textOf(r.w.item("bannerText")).isEmpty());
  CHECK_FALSE(textOf(r.w.item("bannerText")).contains("still going on"));
}

TEST_CASE("nothing stuck: a window that is closed ends the script it was recording") {
  pid_t script = 0;
  {
    Recording r;
    const QString pidFile = r.folder.filePath("pid");
    if (!r.begin(endless(pidFile))) return;
    script = processOf(pidFile);
  }
  if (script == 0) return;
  CHECK(waitFor([&] { return !runs(script); }, 1500));
}
