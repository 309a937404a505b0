// The window is a program of its own: what it is asked for arrives whole, and scripts are not linked to Qt.
#include "app/gui/window_options.h"
#include "tests/app/cli/support.h"

#include <doctest/doctest.h>

#include <filesystem>

using namespace uopscope;
using namespace uopscope::test;
namespace fs = std::filesystem;

#ifdef UOPSCOPE_HAVE_WINDOW

TEST_CASE("the options of the window travel as text") {
  WindowOptions o{.file = "a \"b\".uoptrace",
                  .compare = {"x", "y z"},
                  .ignoreNames = true,
                  .link = "kernel=3&step=12",
                  .moves = {"do=Play", "wait"},
                  .screenshot = "out.gif",
                  .steps = 7,
                  .seconds = 2.5,
                  .width = 900,
                  .height = 600,
                  .theme = "dark",
                  .isChild = true,
                  .program = "/usr/bin/uopscope"};
  const WindowOptions back = optionsOf(uopscope::textOf(o));
  CHECK(uopscope::textOf(back) == uopscope::textOf(o));
  CHECK(back.file == o.file);
  CHECK(back.moves == o.moves);
  CHECK(back.seconds == o.seconds);
  CHECK_NOTHROW(uopscope::textOf({.file = "no \xff UTF-8"}));
  CHECK_THROWS(optionsOf("kernel.py"));
}

TEST_CASE("a script is run by a process without Qt") {
  const Folder folder;
  const Result r = call(folder, {"python", "-c", "print('Qt6' in open('/proc/self/maps').read())"});
  CHECK(r.code == 0);
  CHECK(r.out == "False\n");
}

TEST_CASE("the window's program is not started by hand, and is missed where it is not installed") {
  const std::string binaries = UOPSCOPE_BINARY_DIR "/bin";
  CHECK(WEXITSTATUS(std::system((binaries + "/uopscope-window trace.uoptrace 2> /dev/null").c_str())) == 2);
  const Folder alone;
  const fs::path program = alone.path / "uopscope";
  std::error_code across;
  fs::create_hard_link(binaries + "/uopscope", program, across);
  if (across) fs::copy_file(binaries + "/uopscope", program);
  const std::string said = alone.path / "said";
  const int status =
      std::system(("PATH=/usr/bin:/bin " + program.string() + " open 2> " + shell(said)).c_str());
  const std::string text = uopscope::test::textOf(said);
  INFO(text);
  CHECK(WEXITSTATUS(status) == 1);
  CHECK(contains(text, "uopscope-window is missing beside"));
}

#endif
