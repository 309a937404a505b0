// The built program in use: its output, its messages about wrong input, and its exit codes.
#include "tests/app/cli/support.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::test;

TEST_CASE("help, version, and words that mean nothing") {
  Folder f;
  Result help = call(f, {"--help"});
  CHECK(help.code == 0);
  for (const char* verb :
       {"open", "record", "run", "python", "ls", "show", "stats", "why", "query", "export"})
    CHECK(contains(help.out, verb));
  CHECK(contains(help.out, "Examples:"));
  CHECK(call(f, {"help"}).out == help.out);
  CHECK(call(f, {"--version"}).out.starts_with("uopscope "));
  for (const char* verb :
       {"record", "run", "python", "ls", "show", "stats", "why", "query", "export", "open"}) {
    CAPTURE(verb);
    CHECK(call(f, {verb, "--help"}).code == 0);
  }
  CHECK(call(f, {"ls"}).code == 2);
  CHECK(call(f, {"ls", "a", "--colour"}).code == 2);
  CHECK(call(f, {"run"}).code == 2);
  CHECK(call(f, {"stats", "x.uoptrace", "--by", "moon"}).code == 2);
}

TEST_CASE("a trace that is none: a clear message and exit code 2") {
  Folder f;
  std::string text = f.file("model.py", "print(1)\n" + std::string(600, '#'));
  for (const std::string& file : {std::string("missing.uoptrace"), text, std::string("/"), f.file("empty")}) {
    std::ofstream made(f.file("empty"));
    Result r = call(f, {"ls", file});
    CHECK(r.code == 2);
    CHECK(r.out.empty());
    CHECK(contains(r.err, "uopscope: "));
    CHECK(contains(r.err, file));
  }
}

TEST_CASE("ls, level by level") {
  Folder f;
  std::string trace = sampleTrace(f);
  Result all = call(f, {"ls", trace});
  CHECK(all.code == 0);
  CHECK(contains(all.out, "schedule 1"));
  CHECK(contains(all.out, "r_4"));
  CHECK(contains(all.out, "model.py:3"));
  CHECK(!contains(all.out, "\x1b"));
  CHECK(all.err.empty());
  Json scopes = Json::parse(call(f, {"ls", trace, "--json"}).out);
  CHECK(Json::parse(call(f, {"--json", "ls", trace}).out) == scopes); // options may come first
  CHECK(scopes["meta"]["status"] == "complete");
  REQUIRE(scopes["scopes"].size() == 2);
  CHECK(scopes["scopes"][1]["kind"] == "kernel");

  Json passes = Json::parse(call(f, {"ls", trace, "r_4", "--json"}).out);
  CHECK(passes[0]["name"] == "initial symbolic");
  CHECK(passes[0]["outcome"] == "done");
  CHECK(contains(call(f, {"ls", trace, "2"}).out, "initial symbolic"));

  Json steps = Json::parse(call(f, {"ls", trace, "r_4", "initial symbolic", "--json"}).out);
  CHECK(steps.size() == passes[0]["steps"]);
  CHECK(steps[0]["k"] == 1);
  CHECK(!steps[0]["rule"].get<std::string>().empty());
  Result limited = call(f, {"ls", trace, "r_4", "1", "--limit", "2"});
  CHECK(contains(limited.out, "2 of"));

  Result wrong = call(f, {"ls", trace, "r_5"});
  CHECK(wrong.code == 2);
  CHECK(contains(wrong.err, "r_4"));
  CHECK(contains(call(f, {"ls", trace, "r_4", "nonsense"}).err, "initial symbolic"));
}

TEST_CASE("show: texts, graphs, differences, provenance") {
  Folder f;
  std::string trace = sampleTrace(f);
  CHECK(call(f, {"show", trace, "r_4"}).out == "void r_4(float* data0) {}\n");
  Result none = call(f, {"show", trace, "r_4", "--what", "ir"});
  CHECK(none.code == 2);
  CHECK(contains(none.err, "it has source"));
  CHECK(call(f, {"show", trace, "r_4", "--what", "poem"}).code == 2);

  Json first = Json::parse(
      call(f, {"show", trace, "r_4", "--pass", "1", "--step", "0", "--what", "graph", "--json"}).out);
  Json last = Json::parse(call(f, {"show", trace, "r_4", "--pass", "1", "--json"}).out);
  CHECK(first["step"] == 0);
  CHECK(last["step"] == last["steps"]);
  CHECK(first["root"] != last["root"]);
  Json diff = Json::parse(call(f, {"show", trace, "r_4", "--pass", "1", "--step", "1", "--json"}).out);
  CHECK(diff["to"] == 1);
  CHECK(!diff["rule"]["name"].get<std::string>().empty());
  CHECK(diff["before"] != diff["after"]);
  Result text = call(f, {"show", trace, "r_4", "--pass", "1", "--step", "1"});
  CHECK(contains(text.out, "pattern"));
  CHECK(contains(text.out, "nodes: "));
  CHECK(call(f, {"show", trace, "r_4", "--pass", "1", "--step", "100000"}).code == 2);

  Json origin = Json::parse(
      call(f, {"show", trace, "r_4", "--pass", "1", "--step", "1", "--what", "provenance", "--json"}).out);
  CHECK(origin["came_from"].size() >= 1);
}

TEST_CASE("stats and query") {
  Folder f;
  std::string trace = sampleTrace(f);
  Json rules = Json::parse(call(f, {"stats", trace, "--json"}).out);
  uint64_t applied = 0;
  for (const Json& r : rules) applied += r["applied"].get<uint64_t>();
  Json count = Json::parse(call(f, {"query", trace, "SELECT count(*) AS n FROM step", "--json"}).out);
  CHECK(count[0]["n"] == applied);
  CHECK(contains(call(f, {"stats", trace, "--by", "pass"}).out, "initial symbolic"));
  CHECK(contains(call(f, {"stats", trace, "--by", "op", "--csv"}).out, "op,rejected_early"));
  CHECK(contains(call(f, {"query", trace, "SELECT name FROM rule ORDER BY name LIMIT 1"}).out, "name\n"));
  Result write = call(f, {"query", trace, "DELETE FROM step"});
  CHECK(write.code == 2);
  CHECK(contains(write.err, "only reads"));
  CHECK(contains(call(f, {"query", trace, "SELECT nowhere FROM step"}).err, "no such column"));
}

TEST_CASE("export in every form") {
  Folder f;
  std::string trace = sampleTrace(f);
  CHECK(call(f, {"export", trace, "r_4", "-o", "g.dot", "--pass", "1", "--step", "1", "--diff"}).code == 0);
  CHECK(contains(textOf(f.file("g.dot")), "digraph"));
  CHECK(call(f, {"export", trace, "r_4", "-o", "g.json"}).code == 0);
  CHECK(Json::parse(textOf(f.file("g.json")))["nodes"].size() > 3);
  CHECK(call(f, {"export", trace, "r_4", "--pass", "1", "-o", "s.csv"}).code == 0);
  CHECK(contains(textOf(f.file("s.csv")), "step,rule,at"));
  CHECK(call(f, {"export", trace, "-o", "all.html"}).code == 0);
  CHECK(contains(textOf(f.file("all.html")), "schedule 1"));
  CHECK(call(f, {"export", trace, "-o", "g.svg"}).code == 2);
  CHECK(call(f, {"export", trace, "r_4", "-o", "g.gif"}).code == 2);
  CHECK(call(f, {"export", trace, "r_4", "-o", "/nonexistent/g.json"}).code == 2);
  CHECK(call(f, {"export", trace, "r_4", "-o", "g.svg"}).code == 0);
  CHECK(contains(textOf(f.file("g.svg")), "<svg"));
  CHECK(call(f, {"export", trace, "r_4", "-o", "g.png"}).code == 0);
  CHECK(textOf(f.file("g.png")).starts_with("\x89PNG"));
}

TEST_CASE("why a rule did not fire") {
  Folder f;
  std::string trace = sampleTrace(f);
  Json steps = Json::parse(call(f, {"ls", trace, "r_4", "1", "--json"}).out);
  std::string node = std::to_string(steps[0]["before"].get<int64_t>()), rule = steps[0]["rule"];
  Json did = Json::parse(call(f, {"why", trace, "r_4", "1", node, rule, "--json"}).out);
  CHECK(did["fired"] == true);
  // A rule of the engine that this trace never tried: its pattern is tested all the same.
  Result other = call(f, {"why", trace, "r_4", "1", node, "no-such-rule"});
  CHECK(other.code == 2);
  CHECK(contains(other.err, "no-such-rule"));
  CHECK(call(f, {"why", trace, "r_4", "1", "99999999", rule}).code == 2);
}

TEST_CASE("record: programs that do not record, scripts that are none") {
  Folder f;
  Result missing = call(f, {"record", "nothing.py"});
  CHECK(missing.code == 2);
  CHECK(contains(missing.err, "nothing.py: no such file"));
  CHECK(call(f, {"record", "/tmp"}).code == 2);
  Result plain = call(f, {"record", "/bin/true", "-o", "t.uoptrace"});
  CHECK(plain.code == 1);
  CHECK(contains(plain.err, "recorded nothing"));
  f.file("x.py", "pass\n");
  CHECK(call(f, {"record", "x.py", "-o", "/nonexistent/t.uoptrace"}).code == 2);
  CHECK(call(f, {"record", "x.py", "--tier", "loud"}).code == 2);
  std::string trace = sampleTrace(f);
  CHECK(contains(call(f, {"record", trace}).err, "a trace, not a script"));
  CHECK(call(f, {"run", "/bin/false"}).code == 1);
}

#ifdef UOPSCOPE_HAVE_PYTHON
namespace {
constexpr const char* kPrintingScript = "from tinygrad import Tensor\n"
                                        "import sys\n"
                                        "a = (Tensor([1.0, 2.0, 3.0]) * 2 + 0).relu()\n"
                                        "print(a.tolist(), sys.argv[1:])\n";
}

TEST_CASE("record a script") {
  Folder f;
  f.file("model.py", kPrintingScript);
  Result r = call(f, {"record", "model.py", "--", "--epochs", "3"});
  CHECK(r.code == 0);
  CHECK(contains(r.out, "[2.0, 4.0, 6.0] ['--epochs', '3']"));
  CHECK(contains(r.err, "model.uoptrace: "));
  CHECK(!std::filesystem::exists(f.file("model.uoptrace-wal")));
  Trace trace(f.file("model.uoptrace"));
  CHECK(trace.status() == "complete");
  CHECK(contains(*trace.fileText(trace.meta("script")), "relu"));
  CHECK(Json::parse(trace.meta("command"))[2] == "3");
  bool kernel = false;
  for (const ScopeInfo& s : trace.scopes()) kernel |= s.kind == ScopeKind::Kernel && s.steps > 0;
  CHECK(kernel);
  // Every outermost pass of the engine ends with the graph that the cursor computes.
  for (const ScopeInfo& s : std::vector<ScopeInfo>(trace.scopes()))
    for (const PassInfo& p : std::vector<PassInfo>(trace.passes(s.id))) {
      CAPTURE(p.name);
      Cursor cursor(trace, p.id);
      CHECK(cursor.rootAt(cursor.steps()) == p.endRoot);
    }
  std::string out = call(f, {"record", "model.py", "--json", "-o", "b.uoptrace", "--tier", "stats"}).out;
  Json summary = Json::parse(out.substr(out.find('{')));
  CHECK(summary["status"] == "complete");
}

TEST_CASE("tier stats keeps the source of a kernel, and says that it keeps no assembly") {
  Folder f;
  f.file("model.py", "from tinygrad import Tensor\n(Tensor([1.0, 2.0]).contiguous() + 1).realize()\n");
  for (const char* tier : {"full", "stats"})
    REQUIRE(call(f, {"record", "model.py", "-o", tier + std::string(".uoptrace"), "--tier", tier}).code == 0);
  auto kinds = [&](const std::string& trace) {
    Json rows = Json::parse(
        call(f, {"query", trace, "SELECT DISTINCT kind FROM v_text ORDER BY kind", "--json"}).out);
    std::string all;
    for (const Json& row : rows.is_array() ? rows : rows["rows"])
      all += (row.is_array() ? row[0] : row["kind"]).get<std::string>() + " ";
    return all;
  };
  CHECK(kinds("full.uoptrace") == "asm held ir launch opts registers source ");
  CHECK(kinds("stats.uoptrace") == "held launch opts source ");
  Trace trace(f.file("stats.uoptrace"));
  std::string kernel;
  for (const ScopeInfo& s : std::vector<ScopeInfo>(trace.scopes()))
    if (s.kind == ScopeKind::Kernel) kernel = std::to_string(s.id);
  CHECK(contains(call(f, {"show", "stats.uoptrace", kernel, "--what", "source"}).out, "void"));
  Result none = call(f, {"show", "stats.uoptrace", kernel, "--what", "asm"});
  CHECK(none.code == 2);
  CHECK(contains(none.err, "record with --tier full"));
}

TEST_CASE("scripts that end badly leave a trace that says how") {
  Folder f;
  f.file("raise.py",
         "from tinygrad import Tensor\nTensor([1.0]).relu().tolist()\nraise ValueError('my own words')\n");
  Result raised = call(f, {"record", "raise.py"});
  CHECK(raised.code == 1);
  CHECK(contains(raised.err, "my own words"));
  CHECK(contains(raised.err, "raise.py\", line 3"));
  CHECK(Trace(f.file("raise.uoptrace")).status() == "failed");

  f.file("crash.py", "import os, signal\nfrom tinygrad import "
                     "Tensor\nTensor([1.0]).relu().tolist()\nos.kill(os.getpid(), signal.SIGSEGV)\n");
  Result crashed = call(f, {"record", "crash.py"});
  CHECK(crashed.code == 1);
  CHECK(contains(crashed.err, "SIGSEGV"));
  Trace trace(f.file("crash.uoptrace"));
  CHECK(trace.status() == "crashed");
  CHECK(contains(trace.warning(), "SIGSEGV"));
  CHECK(trace.scopes().size() >= 2);

  f.file("leave.py", "import os\nfrom tinygrad import Tensor\nTensor([1.0]).relu().tolist()\nos._exit(0)\n");
  CHECK(call(f, {"record", "leave.py"}).code == 0);
  CHECK(Trace(f.file("leave.uoptrace")).status() == "failed");
}

TEST_CASE("an endless script is interrupted and its trace is closed") {
  for (const char* body : {"while True: pass\n", "import time\nwhile True: time.sleep(1)\n"}) {
    Folder f;
    std::string script = f.file(
        "loop.py",
        std::string(
            "from tinygrad import Tensor\nTensor([1.0]).relu().tolist()\nprint('ready', flush=True)\n") +
            body);
    pid_t child = fork();
    if (child == 0) {
      if (chdir(f.path.c_str()) != 0) _exit(9);
      (void)!freopen(f.file("out").c_str(), "w", stdout);
      (void)!freopen(f.file("err").c_str(), "w", stderr);
      execl(kProgram.c_str(), "uopscope", "record", script.c_str(), nullptr);
      _exit(9);
    }
    for (int k = 0; k < 600 && !contains(textOf(f.file("out")), "ready"); ++k)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    kill(child, SIGINT);
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 130);
    Trace trace(f.file("loop.uoptrace"));
    CHECK(trace.status() == "interrupted");
    CHECK(trace.scopes().size() >= 2);
    CHECK(!std::filesystem::exists(f.file("loop.uoptrace-wal")));
  }
}

TEST_CASE("run: arguments, exit codes, match statistics") {
  Folder f;
  f.file("model.py", kPrintingScript);
  Result r = call(f, {"run", "model.py", "-x", "--json"}, "TRACK_MATCH_STATS=1");
  CHECK(r.code == 0);
  CHECK(contains(r.out, "['-x', '--json']"));
  CHECK(contains(r.out, "-- TOTAL"));
  CHECK(contains(r.out, "matched once"));
  f.file("exit.py", "import sys\nsys.exit(5)\n");
  CHECK(call(f, {"run", "exit.py"}).code == 5);
  CHECK(call(f, {"python", "-c", "from tinygrad import Tensor; print(Tensor([2]).tolist())"}).out == "[2]\n");
}

TEST_CASE("every pass of every sample ends where the engine did") {
  std::vector<std::string> scripts;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(UOPSCOPE_SOURCE_DIR) + "/samples"))
    if (entry.path().extension() == ".py") scripts.push_back(entry.path());
  if (std::string program = std::string(UOPSCOPE_BINARY_DIR) + "/samples/cpp_matmul";
      std::filesystem::exists(program))
    scripts.push_back(program);
  std::ranges::sort(scripts);
  CHECK(scripts.size() >= 5);
  for (const std::string& script : scripts) {
    CAPTURE(script);
    Folder f;
    Result r = call(f, {"record", script, "-q", "-o", "t.uoptrace"});
    CHECK_MESSAGE(r.code == 0, r.err);
    Trace trace(f.file("t.uoptrace"));
    CHECK(trace.status() == "complete");
    int64_t passes = 0, steps = 0;
    std::vector<ScopeId> scopes{0};
    for (const ScopeInfo& s : trace.scopes()) scopes.push_back(s.id);
    for (ScopeId scope : scopes)
      for (const PassInfo& p : std::vector<PassInfo>(trace.passes(scope))) {
        CAPTURE(p.name);
        Cursor cursor(trace, p.id);
        CHECK(cursor.rootAt(cursor.steps()) == p.endRoot);
        ++passes;
        steps += cursor.steps();
      }
    CHECK(passes > 0);
    CHECK(steps > 0);
  }
}
#endif
