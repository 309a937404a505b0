// Stops a recording at breakpoints, from the window and from the command line, with the built program and a
// real script.
#include "tests/app/cli/support.h"

#if defined(UOPSCOPE_HAVE_WINDOW) && defined(UOPSCOPE_HAVE_PYTHON)
#include "tests/viz/support.h"
#include "viz/models/session/tools.h"

#include <QDirIterator>
#include <QFileInfo>
#include <QProcess>
#include <fstream>

using namespace uopscope;
using namespace uopscope::test;

namespace {

constexpr const char* kSummingScript = "from tinygrad import Tensor\n"
                                       "((Tensor.ones(4, 4).contiguous() * 3).sum(0) + 1).realize()\n";

int64_t stepsOf(const std::string& path) {
  Trace trace(path);
  int64_t steps = 0;
  for (const ScopeInfo& s : trace.scopes()) steps += s.steps;
  return steps;
}

} // namespace

TEST_CASE(
    "live: the window stops at a breakpoint, shows what is there by then, skips, finishes and goes on") {
  application();
  Folder folder;
  Session session;
  Tools tools(session);
  LiveControl& live = *tools.live();
  session.setRecorderProgram(QString::fromStdString(kProgram));
  live.setBreakpoints({QStringLiteral("pass=*symbolic*")});
  live.record(QString::fromStdString(folder.file("model.py", kSummingScript)));
  auto paused = [&] { return waitFor([&] { return live.paused(); }, 60'000); };
  REQUIRE(paused());
  const QString rule = live.where()["rule"].toString();
  CHECK_FALSE(rule.isEmpty());
  CHECK(live.where()["pass"].toString().contains("symbolic"));
  // The live graph is available while the compiler waits.
  REQUIRE(waitFor([&] { return session.state() == "ready" && session.pass() > 0 && session.settled(); }));
  CHECK(session.growing());
  live.order("skip");
  CHECK_FALSE(waitFor([&] { return session.recorder()->running() == false; }, 50));
  REQUIRE(paused());
  live.order("step");
  REQUIRE(paused());
  live.setBreakpoints({});
  live.order("finish");
  waitFor([&] { return live.paused() || !session.recorder()->running(); }, 60'000);
  if (live.paused()) live.order("continue");
  REQUIRE(waitFor([&] { return !session.recorder()->running() && session.settled(); }, 60'000));
  CHECK(session.state() == "ready");
  REQUIRE(waitFor([&] { return !session.growing(); }));
}

TEST_CASE("live: the command line asks at breakpoints and follows orders") {
  Folder folder;
  folder.file("model.py", kSummingScript);
  folder.file("orders", "step\nbreak nonsense\nhelp\nskip\nclear\ncontinue\n");
  const std::string command =
      "cd " + shell(folder.path) + " && " + shell(kProgram) +
      " record model.py -o live.uoptrace --break 'pass=*symbolic*' < orders > said 2> complained";
  const int status = std::system(command.c_str());
  CHECK(WEXITSTATUS(status) == 0);
  const std::string said = textOf(folder.file("said")), complained = textOf(folder.file("complained"));
  CAPTURE(said);
  CAPTURE(complained);
  size_t stops = 0;
  for (size_t at = 0; (at = said.find("about to apply", at)) != std::string::npos; ++at) ++stops;
  CHECK(stops == 3);
  CHECK(said.find("to the next breakpoint") != std::string::npos);
  CHECK(complained.find("\"nonsense\" is not understood") != std::string::npos);
  CHECK(stepsOf(folder.file("live.uoptrace")) > 0);
  const Result wrong = call(folder, {"record", "model.py", "--break", "colour=red"});
  CHECK(wrong.code == 2);
  CHECK(wrong.err.find("rule=, op=, into=, pass=, kernel=") != std::string::npos);
  CHECK(call(folder, {"record", "model.py", "--pause", "--tier", "stats"}).code == 2);
}

TEST_CASE(
    "live: a window that is killed takes recorder, script and what the script began along within a second") {
  application();
  Folder folder;
  const std::string script =
      folder.file("endless.py", "import os, subprocess\n"
                                "os.chdir(os.path.dirname(os.path.abspath(__file__)))\n"
                                "from tinygrad import Tensor\n"
                                "(Tensor.ones(4) + 1).realize()\n"
                                "other = subprocess.Popen(['sleep', '1000'])\n"
                                "open('pids.new', 'w').write(f'{os.getpid()} {other.pid}')\n"
                                "os.rename('pids.new', 'pids')\n"
                                "while True: pass\n");
  QProcess window;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert("QT_QPA_PLATFORM", "offscreen");
  environment.insert("QT_QUICK_BACKEND", "software");
  environment.insert("XDG_CACHE_HOME", QString::fromStdString(folder.path.string()));
  environment.insert("XDG_CONFIG_HOME", QString::fromStdString(folder.path.string()));
  window.setProcessEnvironment(environment);
  window.setWorkingDirectory(QString::fromStdString(folder.path.string()));
  window.start(QString::fromStdString(kProgram), {QString::fromStdString(script)});
  const QString pids = QString::fromStdString((folder.path / "pids").string());
  REQUIRE(waitFor([&] { return QFileInfo::exists(pids); }, 60'000));
  std::ifstream file(pids.toStdString());
  pid_t running = 0, other = 0;
  file >> running >> other;
  REQUIRE(running > 1);
  REQUIRE(other > 1);
  const auto runs = [](pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, state;
    return (stat >> number >> name >> state) && state != "Z";
  };
  CHECK(runs(running));
  window.kill();
  window.waitForFinished();
  CHECK(waitFor([&] { return !runs(running) && !runs(other); }, 1500));
  // The recording up to this point is a trace that says how it ended.
  QDirIterator traces(QString::fromStdString(folder.path.string()), {"*.uoptrace"}, QDir::Files,
                      QDirIterator::Subdirectories);
  REQUIRE(traces.hasNext());
  const std::string trace = traces.next().toStdString();
  CHECK(waitFor([&] { return Trace(trace).meta("status") == "interrupted"; }, 2000));
}

#endif
