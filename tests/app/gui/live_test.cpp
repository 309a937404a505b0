// A recording that is stopped at breakpoints, from the window and from the command line, with the built
// program and a real script.
#include "tests/app/cli/support.h"

#if defined(UOPSCOPE_HAVE_WINDOW) && defined(UOPSCOPE_HAVE_PYTHON)
#include "tests/viz/support.h"
#include "viz/models/session/tools.h"

using namespace uopscope;
using namespace uopscope::test;

namespace {

constexpr const char* kScript = "from tinygrad import Tensor\n"
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
  live.record(QString::fromStdString(folder.file("model.py", kScript)));
  auto paused = [&] { return waitFor([&] { return live.paused(); }, 60'000); };
  REQUIRE(paused());
  const QString rule = live.where()["rule"].toString();
  CHECK_FALSE(rule.isEmpty());
  CHECK(live.where()["pass"].toString().contains("symbolic"));
  // The graph of the live state is there while the compiler waits.
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
  folder.file("model.py", kScript);
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
#endif
