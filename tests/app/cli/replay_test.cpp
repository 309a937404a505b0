// uopscope replay over a small repository whose commits change the compiler's rules: the build of a commit
// wraps this program and leaves rules out.
#include "tests/app/cli/support.h"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace uopscope;
using namespace uopscope::test;

namespace {

class Workplace {
public:
  Workplace() {
    path = std::filesystem::temp_directory_path() / ("uopscope-replay-" + std::to_string(getpid()));
    std::filesystem::create_directories(path / "repo");
    write("model.py", "from tinygrad import Tensor\n"
                      "a = Tensor.arange(24).reshape(4, 6).float().contiguous().realize()\n"
                      "print((a * 2 + 1).sum(1).numpy())\n");
    sh("cd repo && git init -q -b main . && git config user.email a@b.c && git config user.name n");
    commit("first", "");
    commit("refactor: nothing changes", " ");
    commit("a note", "  ");
    commit("mul-one is gone", "--without mul-one");
    commit("later", "--without mul-one ");
  }
  ~Workplace() { std::filesystem::remove_all(path); }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  void write(const std::string& name, const std::string& text) { std::ofstream(path / name) << text; }
  /// Runs a shell command and returns its exit code; `out` gets its output.
  int sh(const std::string& command) {
    std::string log = (path / "log").string();
    int status = std::system(("cd '" + path.string() + "' && export XDG_CACHE_HOME='" + path.string() +
                              "/cache' && ( " + command + " ) > '" + log + "' 2>&1")
                                 .c_str());
    std::ifstream in(log);
    out.assign(std::istreambuf_iterator<char>(in), {});
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  int uopscope(const std::string& arguments) { return sh("'" + kProgram + "' " + arguments); }

  std::filesystem::path path;
  std::string out;

private:
  /// Makes a commit whose "compiler" is this program with options for `replay run`.
  void commit(const std::string& message, const std::string& options) {
    write("repo/build.sh", "mkdir -p bin && cat > bin/tool <<'EOF'\n#!/bin/sh\nif [ \"$1 $2\" = 'replay run' "
                           "]; then shift 2; exec '" +
                               kProgram + "' replay run \"$@\" " + options + "\nfi\nexec '" + kProgram +
                               "' \"$@\"\nEOF\nchmod +x bin/tool\n");
    REQUIRE(sh("cd repo && git add -A && git commit -q -m '" + message + "'") == 0);
  }
};

const std::string kHow = " --repository repo --build 'sh build.sh' --program bin/tool";

} // namespace

TEST_CASE("replay: a history of commits, from capture to bisect") {
  Workplace w;
  REQUIRE(w.uopscope("replay capture model.py -q -o before.uopcorpus") == 0);
  INFO(w.out);
  CHECK(w.out.find("kernels") != std::string::npos);
  CHECK(w.uopscope("replay ls before.uopcorpus") == 0);
  CHECK(w.out.find("model.py:3") != std::string::npos);

  SUBCASE("the same build changes nothing, and says so with its exit code") {
    CHECK(w.uopscope("replay diff before.uopcorpus --assert-same") == 0);
    CHECK(w.out.find("nothing changed") != std::string::npos);
  }
  SUBCASE("a rule left out is named, fails the check, and reaches every report") {
    CHECK(w.uopscope("replay diff before.uopcorpus --without mul-one --assert-same") == 1);
    CHECK(w.out.find("rule 'mul-one' no longer applies") != std::string::npos);
    for (const char* report : {"r.html", "r.md", "r.json", "r.txt"}) {
      CHECK(w.uopscope(std::string("replay diff before.uopcorpus --without mul-one -o ") + report) == 0);
      std::ifstream in(w.path / report);
      std::string text((std::istreambuf_iterator<char>(in)), {});
      CHECK(text.find("mul-one") != std::string::npos);
    }
    CHECK(w.uopscope("replay diff before.uopcorpus --without mul-one -o r.pdf") == 2);
  }
  SUBCASE("commits are built and compared; the pure refactor shows nothing") {
    CHECK(w.uopscope("replay diff before.uopcorpus --assert-same --commits main~4 main~2" + kHow) == 0);
    CHECK(w.out.find("nothing changed") != std::string::npos);
    CHECK(w.uopscope("replay diff before.uopcorpus --assert-same --commits main~4 main" + kHow) == 1);
    CHECK(w.out.find("rule 'mul-one' no longer applies") != std::string::npos);
    w.sh("echo >> repo/build.sh");
    w.uopscope("replay diff before.uopcorpus --commits main~4 main~2" + kHow);
    CHECK(w.out.find("in neither commit") != std::string::npos);
  }
  SUBCASE("bisect names the commit") {
    CHECK(w.uopscope("replay bisect before.uopcorpus 1 --commits main~4 main" + kHow) == 1);
    CHECK(w.out.find("mul-one is gone") != std::string::npos);
    CHECK(w.out.find("changed with") != std::string::npos);
    CHECK(w.uopscope("replay bisect before.uopcorpus 1 --commits main~4 main~2" + kHow) == 0);
  }
  SUBCASE("a kernel runs alone") {
    REQUIRE(w.uopscope("replay ls before.uopcorpus --json") == 0);
    auto all = nlohmann::json::parse(w.out);
    for (const auto& k : all) {
      if (k["kind"] != "kernel") continue;
      std::string number = std::to_string(k["number"].get<int>());
      CHECK(w.uopscope("replay reproduce before.uopcorpus " + number + " -o k.py") == 0);
      CHECK_MESSAGE(w.uopscope("run k.py") == 0, w.out);
      CHECK(w.out.find("same results") != std::string::npos);
      CHECK(w.uopscope("replay bisect before.uopcorpus " + number + " --rewrites") == 0);
      CHECK(w.out.find("not wrong") != std::string::npos);
      CHECK(w.uopscope("replay show before.uopcorpus " + number + " --what story") == 0);
      CHECK(w.out.find("initial symbolic") != std::string::npos);
      break;
    }
  }
  SUBCASE("wrong input is told of") {
    CHECK(w.uopscope("replay diff before.uopcorpus --commits nowhere main" + kHow) == 2);
    CHECK(w.out.find("no such commit") != std::string::npos);
    CHECK(w.uopscope("replay diff missing.uopcorpus") == 2);
    CHECK(w.uopscope("replay run before.uopcorpus -o before.uopcorpus") == 2);
    CHECK(w.out.find("is the input") != std::string::npos);
    CHECK(w.uopscope("replay show before.uopcorpus nothing_like_it") == 2);
    CHECK(w.out.find("there are:") != std::string::npos);
    w.write("empty.uopcorpus", "");
    CHECK(w.uopscope("replay ls empty.uopcorpus") == 2);
    CHECK(w.uopscope("replay capture nothere.py -o x.uopcorpus") == 2);
    w.write("broken.py", "raise SystemExit(3)\n");
    CHECK(w.uopscope("replay capture broken.py -q -o y.uopcorpus") == 1);
  }
}
