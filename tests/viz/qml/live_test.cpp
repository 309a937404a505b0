// Stops a running recording, by mouse and keys, with a real script in a child process. There is nothing to
// test where the program was built without Python, or is missing beside the tests.
#include "tests/viz/window_support.h"

#include <QCoreApplication>
#include <QFile>
#include <QTemporaryDir>

using namespace uopscope;
using namespace uopscope::test;

namespace {

constexpr int kScriptMs = 60000;

} // namespace

TEST_CASE(
    "live: a script is recorded, then again with a breakpoint: step, next, skip, finish, go on, by mouse") {
  Window w;
  const QString program = QCoreApplication::applicationDirPath() + "/bin/uopscope";
  if (!QFile::exists(program)) return;
  QTemporaryDir folder;
  const QString script = folder.filePath("model.py");
  {
    QFile file(script);
    REQUIRE(file.open(QIODevice::WriteOnly));
    file.write("from tinygrad import Tensor\n"
               "a = Tensor.empty(16, 16, device='NULL')\n"
               "(a @ a).relu().sum().realize()\n");
  }
  w.session.setRecorderProgram(program);
  w.session.open(script);
  REQUIRE(waitFor(
      [&] {
        return w.session.state() == "error" ||
               (w.session.state() == "ready" && !w.session.growing() && !w.session.recorder()->running());
      },
      kScriptMs));
  if (w.session.state() == "error") {
    MESSAGE("not tried: ", w.session.errorText().toStdString());
    return;
  }
  w.settle();
  w.key(Qt::Key_G, kCtrl);
  w.type("op:ADD");
  w.key(Qt::Key_R, kCtrl | kShift);
  LiveControl& live = *w.tools.live();
  REQUIRE(waitFor([&] { return live.paused(); }, kScriptMs));
  w.settle();
  CHECK(w.item("liveBar")->isVisible());
  CHECK(w.item("liveWhere")->property("text").toString().contains(live.where()["rule"].toString()));
  for (const char* button : {"liveStep", "liveNext", "liveSkip", "liveFinish", "liveContinue"}) {
    CAPTURE(std::string(button));
    const QVariantMap before = live.where();
    w.click(w.item(button));
    REQUIRE(
        waitFor([&] { return !live.connected() || (live.paused() && live.where() != before); }, kScriptMs));
    w.settle();
    // The recording may end here: the place of the next ADD depends on the compiler.
    if (!live.connected()) break;
    CHECK(w.session.state() == "ready");
  }
  live.setBreakpoints({});
  if (live.connected()) w.key(Qt::Key_F8);
  REQUIRE(waitFor([&] { return !live.connected(); }, kScriptMs));
  w.settle();
  CHECK_FALSE(w.item("liveBar")->isVisible());
  w.key(Qt::Key_F8); // nothing is left to continue
  CHECK(w.session.notice().contains("No recording"));
}
