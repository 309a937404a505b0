// "This build" of the comparison page: the program replays a corpus as a child, and the result is compared.
#include "tests/replay/compare/history.h"

#include <doctest/doctest.h>

#ifdef UOPSCOPE_HAVE_WINDOW
#include "tests/viz/support.h"
#include "viz/models/compare/replay_model.h"

using namespace uopscope;
using namespace uopscope::test;

TEST_CASE("window: a corpus is compared with what this build makes of it") {
  application();
  TempCorpus corpus(commits::of(commits::kFirst), 3);
  Session session;
  ReplayModel replay(session);
  replay.setProgram(QStringLiteral(UOPSCOPE_BINARY_DIR "/bin/uopscope"));
  session.open(QString::fromStdString(corpus.path));
  REQUIRE(replay.state() == "choosing");
  replay.compareWithBuild();
  CHECK(replay.state() == "working");
  waitFor([&] { return replay.state() != "working" && replay.settled(); }, 120'000);
  INFO(replay.errorText().toStdString());
  REQUIRE(replay.state() == "ready");
  CHECK(replay.list()->total() == 3);
  CHECK(replay.list()->diff()->afterName.ends_with("this-build.uopcorpus"));
}
#endif
