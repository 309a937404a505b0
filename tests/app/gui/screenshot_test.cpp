// Runs `uopscope open TRACE --at LINK --screenshot OUT.png` as a person types it, without a display.
#include "engine/base/error.h"
#include "tests/replay/experiment/made_experiment.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace uopscope;
using namespace uopscope::test;
namespace fs = std::filesystem;

#ifdef UOPSCOPE_HAVE_WINDOW
namespace {

struct Shot {
  int code;
  std::string errors;
};

Shot takeShot(const std::string& arguments) {
  const std::string log =
      (fs::temp_directory_path() / ("uopscope-shot-" + std::to_string(getpid()) + ".log")).string();
  const std::string command = "env -u DISPLAY -u WAYLAND_DISPLAY -u QT_QPA_PLATFORM " UOPSCOPE_BINARY_DIR
                              "/bin/uopscope " +
                              arguments + " 2> " + log;
  const int status = std::system(command.c_str());
  std::ifstream in(log);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  fs::remove(log);
  return {WEXITSTATUS(status), text};
}

struct Fixture {
  TempTrace trace;
  std::string png = trace.path + ".png";
  Fixture() {
    recordTo(trace.path, [] {
      Pool pool;
      PoolScope scope(pool);
      ObservedScope kernel({.kind = ScopeKind::Kernel, .name = "r_4", .script = {}, .root = {}});
      const UOp r = UOp::range(4, 0);
      graphRewrite(UOp::sink(std::vector<UOp>{(r + 0) * 1 + (r + 0)}), shrinking(), {.name = "shrink"});
      Observer::current()->poolRetired(pool);
    });
  }
  ~Fixture() { fs::remove(png); }
};

} // namespace

TEST_CASE("screenshot: written without a display, for any place of a trace") {
  Fixture f;
  const Shot r =
      takeShot("open " + f.trace.path + " --at 'kernel=r_4&pass=shrink&step=2' --screenshot " + f.png);
  INFO(r.errors);
  CHECK(r.code == 0);
  REQUIRE(fs::exists(f.png));
  CHECK(fs::file_size(f.png) > 10000);
}

TEST_CASE("screenshot: two traces compared, and what cannot be compared is said to be so") {
  Fixture f, g;
  const Shot r = takeShot("replay diff " + f.trace.path + " " + g.trace.path + " --screenshot " + f.png);
  INFO(r.errors);
  CHECK(r.code == 0);
  REQUIRE(fs::exists(f.png));
  CHECK(fs::file_size(f.png) > 10000);
  const Shot bad = takeShot("replay diff " + f.trace.path + " /no/such.uopcorpus --screenshot " + f.png);
  CHECK(bad.code == 2);
  CHECK(bad.errors.find("/no/such.uopcorpus") != std::string::npos);
}

TEST_CASE("screenshot: an experiment, its pairs and two of them; what is none is said to be so") {
  Fixture f;
  const MadeExperiment before, after({.factor = 1.05});
  for (const std::string& arguments :
       {"open " + before.path, "open " + before.path + " --at tab=compare", "bench compare " + before.path,
        "bench compare " + before.path + " " + after.path, "bench show " + before.path}) {
    CAPTURE(arguments);
    const Shot r = takeShot(arguments + " --screenshot " + f.png);
    INFO(r.errors);
    CHECK(r.code == 0);
    REQUIRE(fs::exists(f.png));
    CHECK(fs::file_size(f.png) > 10000);
    fs::remove(f.png);
  }
  const Shot bad = takeShot("bench compare " + before.path + " /no/such.uopbench --screenshot " + f.png);
  CHECK(bad.code == 2);
  CHECK(bad.errors.find("/no/such.uopbench") != std::string::npos);
}

TEST_CASE("screenshot: a bad link, file or path is exit code 2 and one sentence") {
  Fixture f;
  for (const std::string& arguments : {"open " + f.trace.path + " --at 'step=77' --screenshot " + f.png,
                                       "open /no/such/file --screenshot " + f.png,
                                       "open " + f.trace.path + " --screenshot /no/such/folder/x.png"}) {
    const Shot r = takeShot(arguments);
    INFO(arguments, "\n", r.errors);
    CHECK(r.code == 2);
    CHECK(r.errors.find("uopscope:") != std::string::npos);
  }
}
#endif
