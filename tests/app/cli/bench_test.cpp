// The verb `bench`: the matrix, failures, the comparison of two experiments, and parts merged into one.
#ifdef UOPSCOPE_HAVE_PYTHON
#include "tests/app/cli/support.h"

using namespace uopscope::test;

namespace {
const char* kTimedScript = "import os, sys, time\n"
                           "from tinygrad import Tensor\n"
                           "(Tensor.ones(8).contiguous() + 1).realize()\n"
                           "time.sleep(float(os.environ.get('EXTRA', '0')))\n"
                           "sys.exit(int(os.environ.get('WRONG', '0')))\n";
}

TEST_CASE("bench: every cell of the matrix runs as often as asked, and its numbers are kept") {
  Folder f;
  const std::string script = f.file("a.py", kTimedScript), made = f.file("a.uopbench");
  Result r = call(
      f, {"bench", "run", script, "--set", "NOOPT=0,1", "--device", "CPU,REF", "--repeat", "2", "-o", made});
  CHECK_MESSAGE(r.code == 0, r.err);
  Result shown = call(f, {"bench", "show", made, "--json"});
  Json cells = Json::parse(shown.out)["cells"];
  REQUIRE(cells.size() == 4);
  for (const Json& cell : cells) {
    CHECK(cell["wall"]["count"] == 2);
    CHECK(cell["wall"]["median"] > 1e6);
    CHECK(cell["peak memory"]["median"] > 1e6);
    CHECK(cell["compile"]["count"] == 2);
    CHECK(cell["failed"] == 0);
  }
  const std::string text = call(f, {"bench", "show", made}).out;
  CHECK(text.find("DEV=REF NOOPT=1") != std::string::npos);
  CHECK(text.find("●") != std::string::npos); // the plot
  const std::string page = f.file("a.html");
  CHECK(call(f, {"bench", "show", made, "--html", page}).code == 0);
  std::ifstream in(page);
  std::string html((std::istreambuf_iterator<char>(in)), {});
  CHECK(html.find("<svg") != std::string::npos);
  CHECK(html.find("http") == std::string::npos);
  CHECK(call(f, {"ls", made}).code == 2); // the file is no trace
}

TEST_CASE(
    "bench: the compilations of a cell are kept with their stories, and parts bring them into the whole") {
  Folder f;
  const std::string script = f.file("a.py", kTimedScript), part = f.file("part.uopbench"),
                    whole = f.file("whole.uopbench"), corpus = f.file("a.uopcorpus"),
                    other = f.file("b.uopcorpus");
  // `run` may be left out.
  REQUIRE(call(f, {"bench", script, "--set", "NOOPT=0,1", "--repeat", "1", "-o", part}).code == 0);
  REQUIRE(call(f, {"bench", "merge", part, "-o", whole}).code == 0);
  const Result r = call(f, {"bench", "kernels", whole, "--cell", "NOOPT=1", "-o", corpus});
  CHECK_MESSAGE(r.code == 0, r.err);
  REQUIRE(call(f, {"bench", "kernels", whole, "-o", other}).code == 0);
  CHECK(call(f, {"replay", "show", corpus, "1", "--what", "story"}).code == 0);
  const Result diff = call(f, {"replay", "diff", other, corpus});
  CHECK(diff.out.find("NOOPT") != std::string::npos);                  // the setting that differs comes first
  CHECK(call(f, {"bench", "kernels", whole, "-o", corpus}).code == 2); // is there
  CHECK(call(f, {"bench", "--repeat", "1", "missing.py"}).err.find("missing.py") != std::string::npos);
  CHECK(call(f, {"bench", "shwo", whole}).code == 2);
  const Result wrong = call(f, {"bench", "kernels", whole, "--cell", "NOOPT=7", "-o", f.file("c.uopcorpus")});
  CHECK(wrong.code == 2);
  CHECK(wrong.err.find("its cells are: NOOPT=0, NOOPT=1") != std::string::npos);
  const std::string plain = f.file("plain.uopbench");
  REQUIRE(call(f, {"bench", "run", script, "--repeat", "1", "--warmup", "0", "-o", plain}).code == 0);
  CHECK(call(f, {"bench", "kernels", plain, "-o", f.file("d.uopcorpus")}).err.find("warm-up") !=
        std::string::npos);
}

TEST_CASE("bench: a run that fails is told with its output, and its time is not counted") {
  Folder f;
  const std::string script = f.file("a.py", kTimedScript), made = f.file("a.uopbench");
  Result r =
      call(f, {"bench", "run", script, "--set", "WRONG=0,3", "--repeat", "1", "--warmup", "0", "-o", made});
  CHECK(r.code == 1);
  Result shown = call(f, {"bench", "show", made});
  CHECK(shown.out.find("WRONG=3: 1 runs failed") != std::string::npos);
  Result late = call(f, {"bench", "run", script, "--set", "EXTRA=30", "--repeat", "1", "--warmup", "0",
                         "--overwrite", "--timeout", "1", "-o", made});
  CHECK(late.code == 1);
  Result again = call(f, {"bench", "run", script, "-o", made});
  CHECK(again.code == 2);
  CHECK(again.err.find("--overwrite") != std::string::npos);
}

TEST_CASE("bench: a slowdown is found, and the parts of an experiment make the whole") {
  Folder f;
  const std::string script = f.file("a.py", kTimedScript);
  std::vector<std::string> parts;
  for (const char* part : {"1/2", "2/2"}) {
    parts.push_back(f.file(std::string("part") + part[0] + ".uopbench"));
    REQUIRE(call(f, {"bench", "run", script, "--set", "EXTRA=0,0.8", "--repeat", "6", "--warmup", "0",
                     "--part", part, "-o", parts.back()})
                .code == 0);
  }
  const std::string whole = f.file("whole.uopbench");
  CHECK(call(f, {"bench", "merge", parts[0], parts[1], "-o", whole}).code == 0);
  const Json shown = Json::parse(call(f, {"bench", "show", whole, "--json"}).out);
  for (const Json& cell : shown["cells"]) CHECK(cell["wall"]["count"] == 6);
  Result compared = call(f, {"bench", "compare", whole, "--json"});
  CHECK(compared.code == 1);
  for (const Json& row : Json::parse(compared.out))
    if (row["metric"] == "wall") {
      CHECK(row["verdict"] == "worse");
      CHECK(row["ratio"] > 1.2);
    }
  Result same = call(f, {"bench", "compare", whole, whole, "--json"});
  CHECK(same.code == 0);
  for (const Json& row : Json::parse(same.out)) CHECK(row["verdict"] == "no difference");
  const std::string other = f.file("other.uopbench");
  REQUIRE(call(f, {"bench", "run", script, "--repeat", "1", "--warmup", "0", "-o", other}).code == 0);
  Result refused = call(f, {"bench", "merge", whole, other, "-o", f.file("bad.uopbench")});
  CHECK(refused.code == 2);
  CHECK(refused.err.find("parts of different experiments") != std::string::npos);
}

TEST_CASE("bench: wrong words are refused with what is right") {
  Folder f;
  const std::string script = f.file("a.py", kTimedScript);
  CHECK(call(f, {"bench", "run", script, "--set", "NOOPT", "-o", f.file("x")}).err.find("NOOPT=0,1") !=
        std::string::npos);
  CHECK(call(f, {"bench", "run", script, "--part", "3/2", "-o", f.file("x")}).code == 2);
  CHECK(call(f, {"bench", "run", f.file("none.py")}).code == 2);
  CHECK(call(f, {"bench", "show", script}).code == 2);
}
#endif

TEST_CASE("bench: the time of a search is that of the search, and none once it is kept") {
  Folder f;
  const std::string script =
      f.file("s.py", "from tinygrad import Tensor\n"
                     "x = Tensor.arange(64 * 64).reshape(64, 64).float().contiguous().realize()\n"
                     "print((x @ x).sum().item())\n");
  const std::string made = f.file("m.uopbench");
  const Result r =
      call(f, {"bench", script, "--beam", "2", "--set", "IGNORE_BEAM_CACHE=1,0", "--repeat", "1", "-o", made},
           "CCACHE=1 XDG_CACHE_HOME=" + shell(f.file("cache")));
  REQUIRE_MESSAGE(r.code == 0, r.err);
  for (const Json& cell : partOf(call(f, {"bench", "show", made, "--json"}), "cells")) {
    const bool again = cell["settings"]["IGNORE_BEAM_CACHE"] == "1";
    const double search = cell["search"]["median"], wall = cell["wall"]["median"];
    CAPTURE(search);
    if (again)
      CHECK(search > 20e6); // dozens of candidates are compiled and timed
    else
      CHECK(search < 20e6);
    CHECK(search < wall);
  }
}
