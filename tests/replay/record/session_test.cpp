// A recording of a whole program: the wishes of the environment, the notes about the run, and every way it
// ends.
#include "replay/read/trace.h"
#include "replay/record/git_place.h"
#include "replay/record/session.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>

using namespace uopscope;
using namespace uopscope::test;

namespace {

void compileSomething() {
  Pool pool;
  PoolScope scope(pool);
  graphRewrite(randomGraph(2, 60), shrinking(), {.name = "simplify"});
}

/// Runs `work` in a child process; returns its exit code, or minus the signal that killed it.
int inChild(const std::function<void()>& work) {
  std::fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    // Removes the handlers of the test program.
    for (int number : {SIGSEGV, SIGABRT, SIGFPE, SIGINT, SIGTERM}) std::signal(number, SIG_DFL);
    (void)!freopen("/dev/null", "w", stderr);
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

} // namespace

TEST_CASE("a program that asks for nothing records nothing") {
  char name[] = "program", *argv[] = {name, nullptr};
  RecordingSession session(1, argv);
  CHECK(!session.recording());
  CHECK(!Observer::current());
}

TEST_CASE("a session notes what was run and how it ended") {
  TempTrace file;
  {
    RecordingSession session(
        SessionOptions{.path = file.path, .script = "model", .arguments = {"--epochs", "3"}});
    CHECK(Observer::current() == session.recorder());
    compileSomething();
  }
  CHECK(!Observer::current());
  Trace trace(file.path);
  CHECK(trace.status() == "complete");
  CHECK(trace.meta("script") == "model");
  CHECK(trace.meta("command") == R"(["model","--epochs","3"])");
  CHECK(!trace.meta("time.began").empty());
  REQUIRE(trace.scopes().size() == 1);
  CHECK(trace.scopes()[0].kind == ScopeKind::Script);
  CHECK(trace.passes(1).size() == 1);

  TempTrace failed;
  try {
    RecordingSession session(SessionOptions{.path = failed.path, .script = "model"});
    throw Error(ErrorKind::Value, "no");
  } catch (const Error&) {
  }
  CHECK(Trace(failed.path).status() == "failed");
}

TEST_CASE("a deadly signal commits what there is and says which it was") {
  for (int number : {SIGSEGV, SIGABRT, SIGFPE}) {
    TempTrace file;
    CHECK(inChild([&] {
            RecordingSession session(SessionOptions{.path = file.path, .script = "model"});
            compileSomething();
            std::raise(number);
          }) == -number);
    Trace trace(file.path);
    CHECK(trace.status() == "crashed");
    CHECK(trace.meta("message").find(sigabbrev_np(number)) != std::string::npos);
    CHECK(trace.passes(1).size() == 1);
  }
}

TEST_CASE("Ctrl-C ends the next rewrite and the session says so") {
  TempTrace file;
  CHECK(inChild([&] {
          RecordingSession session(SessionOptions{.path = file.path, .script = "model"});
          compileSomething();
          std::raise(SIGINT);
          try {
            for (;;) compileSomething();
          } catch (const Error&) {
          }
        }) == 0);
  Trace trace(file.path);
  CHECK(trace.status() == "interrupted");
}

TEST_CASE("the commit of a script's repository") {
  auto root = std::filesystem::temp_directory_path() / ("uopscope-git-" + std::to_string(getpid()));
  std::filesystem::create_directories(root / ".git/refs/heads");
  std::filesystem::create_directories(root / "models");
  std::ofstream(root / ".git/HEAD") << "ref: refs/heads/topic\n";
  std::ofstream(root / ".git/packed-refs")
      << "# pack-refs\n0123456789012345678901234567890123456789 refs/heads/topic\n";
  GitPlace packed = gitPlaceOf(root / "models/a.py");
  CHECK(packed.branch == "topic");
  CHECK(packed.commit == "0123456789012345678901234567890123456789");
  std::ofstream(root / ".git/refs/heads/topic") << "abcdefabcdefabcdefabcdefabcdefabcdefabcd\n";
  CHECK(gitPlaceOf(root / "models/a.py").commit.starts_with("abcdef"));
  std::ofstream(root / ".git/HEAD") << "1111111111111111111111111111111111111111\n";
  CHECK(gitPlaceOf(root / "models/a.py").commit.starts_with("1111"));
  CHECK(gitPlaceOf(root / "models/a.py").branch.empty());
  std::filesystem::remove_all(root);
}

TEST_CASE("a trace says what git says of the script's work tree, and the script does not wait for it") {
  const auto root = std::filesystem::temp_directory_path() / ("uopscope-state-" + std::to_string(getpid()));
  std::filesystem::create_directories(root);
  const std::string git = "cd '" + root.string() + "' && git -c user.email=a@b.c -c user.name=n ";
  std::ofstream(root / "model.py") << "print(1)\n";
  REQUIRE(std::system((git + "init -q -b main && git add -A && " +
                       "git -c user.email=a@b.c -c user.name=n commit -q -m one")
                          .c_str()) == 0);
  auto recorded = [&] {
    TempTrace file;
    RecordingSession session(SessionOptions{.path = file.path, .script = (root / "model.py").string()});
    compileSomething();
    session.finish();
    Trace trace(file.path);
    CHECK(trace.meta("git.commit").size() == 40);
    CHECK(trace.meta("git.branch") == "main");
    return trace.meta("git.state");
  };
  const GitQuestion question(root.string());
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1); // what a script changes later is for the script alone
  CHECK(question.answer() == "clean");
  CHECK(GitQuestion(root.string()).answer().empty());
  setenv("PATH", path.c_str(), 1);
  CHECK(recorded() == "clean");
  std::ofstream(root / "model.py") << "print(2)\n";
  CHECK(recorded() == "1 file modified: model.py");
  std::filesystem::remove_all(root);
}
