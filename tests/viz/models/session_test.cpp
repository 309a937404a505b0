// A session without a screen: opening, moving, links, bad input, recording a script in a child process.
#include "replay/schema/database.h"
#include "tests/viz/support.h"
#include "viz/models/session/session.h"

#include <doctest/doctest.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QThread>
#include <atomic>

using namespace uopscope;
using namespace uopscope::test;

namespace {

void settle(Session& s) {
  REQUIRE(waitFor([&] { return s.settled(); }));
}

QString writeFile(const QString& path, const QByteArray& content) {
  QFile f(path);
  REQUIRE(f.open(QIODevice::WriteOnly));
  f.write(content);
  return path;
}

} // namespace

TEST_CASE("session: opens at a rewrite worth a look, and steps through a pass") {
  application();
  Session s;
  s.open(compiledTrace());
  settle(s);
  REQUIRE(s.state() == "ready");
  CHECK(s.scopeKind() == "kernel");
  CHECK(s.step() >= 1);
  goToFullest(s);
  settle(s);
  REQUIRE(s.graph()->picture());
  CHECK(s.stepInfo()["rule"].toString().size() > 0);
  s.trigger("previous-step");
  CHECK(s.step() == 0);
  s.trigger("last-step");
  CHECK(s.step() == s.stepCount());
  const qlonglong pass = s.pass();
  s.trigger("next-step");
  CHECK(s.pass() != pass);
  CHECK(s.step() == 1);
  s.trigger("first-step");
  s.trigger("previous-step");
  CHECK(s.pass() == pass);
  CHECK(s.step() == s.stepCount());
  settle(s);
}

TEST_CASE("session: every pass can be walked to with one key, to the end and back") {
  application();
  Session s;
  s.open(expressionTrace());
  settle(s);
  int passes = 1;
  for (qlonglong before = -1; before != s.pass(); ++passes) {
    before = s.pass();
    s.trigger("next-pass");
  }
  CHECK(passes > 2);
  CHECK_FALSE(s.notice().isEmpty());
  settle(s);
}

TEST_CASE("session: a link leads back to the same place, from any other") {
  application();
  Session s;
  s.open(compiledTrace());
  settle(s);
  s.trigger("next-pass");
  s.trigger("last-step");
  settle(s);
  const PicturePtr p = s.graph()->picture();
  for (const PictureNode& n : p->nodes)
    if (n.id < static_cast<int64_t>(kFirstViewNode)) {
      s.setNode(n.id);
      break;
    }
  s.setTab("stats");
  settle(s);
  const QString link = s.link();
  const qlonglong pass = s.pass(), step = s.step(), node = s.node();
  CHECK(link.contains("tab=stats"));
  s.trigger("previous-pass");
  s.setTab("graph");
  settle(s);
  REQUIRE(s.follow(link));
  settle(s);
  CHECK(s.pass() == pass);
  CHECK(s.step() == step);
  CHECK(s.node() == node);
  CHECK(s.tab() == "stats");
  CHECK(s.link() == link);
  CHECK(s.follow("step=0"));
  CHECK(s.pass() == pass);
  CHECK(s.step() == 0);
}

TEST_CASE("session: a link that leads nowhere is refused with a reason, and nothing changes") {
  application();
  Session s;
  s.open(compiledTrace());
  settle(s);
  const QString before = s.link();
  for (const char* bad : {"kernel=nothing", "pass=absent", "step=99999", "step=x", "tab=nowhere",
                          "colour=red", "node=99999999"}) {
    s.showNotice({});
    INFO(bad);
    CHECK_FALSE(s.follow(bad));
    CHECK_FALSE(s.notice().isEmpty());
  }
  settle(s);
  CHECK(s.state() == "ready");
}

TEST_CASE("session: nothing is read on the window's thread, and keys that come early wait for their turn") {
  application();
  const QString file = compiledTrace(), other = expressionTrace(); // recorded here, by this thread
  DatabaseWatch::noted().clear();
  Session s;
  {
    const DatabaseWatch watch;
    s.open(file);
    CHECK(s.state() == "opening");
    CHECK(s.trace() == nullptr);
    s.trigger("next-step"); // nothing is open yet
  }
  settle(s);
  REQUIRE(s.state() == "ready");
  const qlonglong first = s.pass();
  {
    const DatabaseWatch watch;
    for (const char* action : {"next-pass", "previous-pass", "next-kernel", "previous-kernel", "first-step",
                               "previous-step", "next-step", "last-step", "next-step", "back", "forward"})
      s.trigger(action);
    for (const QString& tab : tabs()) s.setTab(tab);
    s.setTab("graph");
    s.follow("kernel=1");
    s.jump()->prepare();
    s.outputText();
    s.goToPass(0, first);
  }
  settle(s);
  CHECK(s.pass() == first);
  // A look at the next rewrite goes to the file; the keys after it start where it leads.
  const StepId here = s.traceStep();
  {
    const DatabaseWatch watch;
    for (int k = 0; k < 5; ++k) s.trigger("step-in");
    CHECK(s.moving());
    CHECK(s.traceStep() == here);
  }
  settle(s);
  CHECK(s.traceStep() == here + 5);
  {
    const DatabaseWatch watch;
    s.close();
    s.open(other);
    s.close(); // cancelled
  }
  settle(s);
  CHECK(s.state() == "empty");
  CHECK(s.trace() == nullptr);
  for (const std::string& statement : DatabaseWatch::noted()) MESSAGE(statement);
  CHECK(DatabaseWatch::noted().empty());
  { // the watch itself works
    const DatabaseWatch watch;
    Trace direct(other.toStdString());
  }
  CHECK_FALSE(DatabaseWatch::noted().empty());
  DatabaseWatch::noted().clear();
}

TEST_CASE("session: back and forward") {
  application();
  Session s;
  s.open(compiledTrace());
  settle(s);
  const qlonglong first = s.pass();
  s.trigger("next-pass");
  const qlonglong second = s.pass();
  REQUIRE(second != first);
  s.trigger("back");
  CHECK(s.pass() == first);
  CHECK(s.canGoForward());
  s.trigger("forward");
  CHECK(s.pass() == second);
  settle(s);
}

TEST_CASE("session: a node's report names its sources, users and maker") {
  application();
  Session s;
  s.open(expressionTrace());
  settle(s);
  s.trigger("last-step");
  settle(s);
  const PicturePtr p = s.graph()->picture();
  s.setNode(p->nodes.front().id);
  settle(s);
  CHECK(s.nodeInfo()["op"].toString().size() > 0);
  CHECK(s.nodeInfo()["userCount"].toInt() > 0);
  s.trigger("go-user");
  settle(s);
  CHECK(s.node() != p->nodes.front().id);
}

TEST_CASE("session: texts and statistics come with their tabs") {
  application();
  Session s;
  s.open(expressionTrace());
  settle(s);
  s.setTab("source");
  settle(s);
  CHECK(s.code()->lineCount() == 3);
  s.setTab("asm");
  settle(s);
  CHECK(s.code()->lineCount() == 0);
  CHECK_FALSE(s.code()->missing().isEmpty());
  s.setTab("stats");
  settle(s);
  CHECK(s.stats()->total() > 0);
  const int all = s.stats()->total();
  s.setStatsGroup("op");
  settle(s);
  CHECK(s.stats()->total() > 0);
  CHECK(s.stats()->total() != all);
}

TEST_CASE("session: what is no trace is refused with a sentence, and the next file opens all the same") {
  application();
  QTemporaryDir folder;
  Session s;
  s.open(folder.filePath("absent.uoptrace"));
  CHECK(s.state() == "error");
  CHECK(s.errorText().contains("absent.uoptrace"));
  s.open(writeFile(folder.filePath("empty.uoptrace"), ""));
  CHECK(s.state() == "opening");
  settle(s);
  CHECK(s.state() == "error");
  s.open(writeFile(folder.filePath("text.uoptrace"),
                   "this is not a database at all, it only looks like a file"));
  settle(s);
  CHECK(s.state() == "error");
  QFile good(compiledTrace());
  REQUIRE(good.open(QIODevice::ReadOnly));
  QByteArray bytes = good.readAll();
  s.open(writeFile(folder.filePath("cut.uoptrace"), bytes.left(bytes.size() / 3)));
  settle(s);
  CHECK((s.state() == "error" || s.state() == "ready")); // never a crash; a part may be readable
  s.open(expressionTrace());
  settle(s);
  CHECK(s.state() == "ready");
}

TEST_CASE("session: a script that a trace names runs when asked for twice, and old recordings are removed") {
  application();
  QTemporaryDir folder;
  const QString script = writeFile(folder.filePath("named.py"), "print('hello')\n");
  const QString fake =
      writeFile(folder.filePath("fake"), "#!/bin/sh\necho ran >> \"$(dirname \"$0\")/ran\"\ncp \"" +
                                             expressionTrace().toUtf8() + "\" \"$4\"\n");
  QFile::setPermissions(fake, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
  const QString trace = folder.filePath("strange.uoptrace");
  REQUIRE(QFile::copy(expressionTrace(), trace));
  {
    Database db = Database::openForWriting(trace.toStdString());
    db.prepare("INSERT OR REPLACE INTO meta VALUES ('script', ?)").bind(1, script.toStdString()).run();
  }
  const QString kept = QStandardPaths::writableLocation(QStandardPaths::CacheLocation) + "/traces";
  REQUIRE(QDir().mkpath(kept));
  for (int k = 0; k < 25; ++k) writeFile(kept + QStringLiteral("/old-%1.uoptrace").arg(k), "x");
  Session s;
  s.setRecorderProgram(fake);
  s.open(trace);
  settle(s);
  REQUIRE(s.state() == "ready");
  s.recordAgain();
  CHECK(s.state() == "ready");
  CHECK(s.notice().contains(script));
  s.showNotice("of something else");
  s.recordAgain(); // another notice came between: asks again
  CHECK(s.state() == "ready");
  CHECK_FALSE(QFileInfo::exists(folder.filePath("ran")));
  s.recordAgain();
  CHECK(s.state() == "recording");
  REQUIRE(waitFor([&] { return QFileInfo::exists(folder.filePath("ran")) && s.state() == "ready"; }));
  settle(s);
  CHECK(QDir(kept).entryList({"*.uoptrace"}).size() <= 21);
}

TEST_CASE("session: records a script through a child process; its failure is shown with its output") {
  application();
  QTemporaryDir folder;
  const QString script = writeFile(folder.filePath("model.py"), "print('hello')\n");
  // Replaces the program: it prints, and makes the requested trace.
  const QString fake = writeFile(folder.filePath("fake"), "#!/bin/sh\necho recording \"$2\"\ncp \"" +
                                                              expressionTrace().toUtf8() + "\" \"$4\"\n");
  QFile::setPermissions(fake, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
  {
    Session s;
    s.setRecorderProgram(fake);
    s.open(script);
    CHECK(s.state() == "recording");
    REQUIRE(waitFor([&] { return s.state() == "ready"; }));
    CHECK(s.recorder()->output().contains("model.py"));
    settle(s);
  }
  writeFile(fake, "#!/bin/sh\necho Traceback: boom\nexit 2\n");
  {
    Session s;
    s.setRecorderProgram(fake);
    s.open(script);
    REQUIRE(waitFor([&] { return s.state() == "error"; }));
    CHECK(s.errorText().contains("exit code 2"));
    CHECK(s.errorText().contains("boom"));
  }
  writeFile(fake, "#!/bin/sh\nexec sleep 60\n");
  {
    Session s;
    s.setRecorderProgram(fake);
    s.open(script);
    REQUIRE(waitFor([&] { return s.recorder()->running(); }));
    s.recorder()->cancel();
    REQUIRE(waitFor([&] { return s.state() == "error"; }));
    CHECK(s.errorText().contains("cancelled"));
  }
  Session s;
  s.setRecorderProgram(folder.filePath("no such program"));
  s.open(script);
  REQUIRE(waitFor([&] { return s.state() == "error"; }));
}

TEST_CASE("session: a scope is entered while a long look at a growing trace goes on") {
  application();
  Readers readers;
  bool opened = false;
  readers.open(
      compiledTrace(), [&] { opened = true; }, [](const QString& what) { FAIL(what.toStdString()); });
  REQUIRE(waitFor([&] { return opened; }));
  ScopeId unknown = 0;
  for (const ScopeInfo& s : readers.trace()->scopes())
    if (!readers.trace()->knows(s.id) && s.totalSteps > 0) unknown = s.id;
  REQUIRE(unknown != 0);
  std::atomic<bool> go = false, looked = false;
  readers.jobs().ask(Channel::Growth, [&](Jobs::Job&) -> Jobs::Answer {
    while (!go) QThread::msleep(1);
    looked = true;
    return {};
  });
  bool entered = false;
  readers.whenKnown(
      unknown, 0, [&] { entered = true; }, [](const QString& what) { FAIL(what.toStdString()); });
  CHECK(waitFor([&] { return entered; }, 3000));
  CHECK_FALSE(looked);
  go = true;
  REQUIRE(waitFor([&] { return readers.jobs().idle(); }));
}

TEST_CASE("session: of two readings of a scope the one that saw more is kept, whichever answers first") {
  auto overview = std::make_shared<TraceOverview>();
  ScopeInfo scope;
  scope.id = 7;
  overview->scopes = {scope};
  TraceFacts facts;
  facts.overview = overview;
  TraceIndex index(std::move(facts));
  const auto reading = [](int passes, int64_t steps, bool ended) {
    auto out = std::make_shared<ScopePasses>();
    for (int k = 1; k <= passes; ++k) {
      PassInfo p;
      p.id = k, p.scope = 7, p.steps = steps;
      out->passes.push_back(p);
    }
    out->ended = ended;
    return out;
  };
  index.learn(7, reading(2, 5, false));
  index.learn(7, reading(1, 5, false));
  CHECK(index.passes(7).size() == 2);
  index.learn(7, reading(2, 4, false));
  CHECK(index.pass(2).steps == 5);
  index.learn(7, reading(3, 9, true));
  index.learn(7, reading(3, 9, false));
  CHECK(index.stale(10).empty());
  CHECK(index.passes(7).size() == 3);
}
