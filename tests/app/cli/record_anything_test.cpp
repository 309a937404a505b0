// Recordings of suites, of a plain Python and of several processes.
#include "tests/app/cli/support.h"

using namespace uopscope::test;

namespace {
const std::string kModules = "PYTHONPATH=" UOPSCOPE_BINARY_DIR "/python ";

constexpr const char* kSuite = R"(
import unittest
from tinygrad import Tensor
def test_add(): assert (Tensor([1, 2]) + 1).tolist() == [2, 3]
class TestMul(unittest.TestCase):
  def test_mul(self): self.assertEqual((Tensor([1.0, 2.0]) * 3).tolist(), [3, 6])
  def test_again(self): self.assertEqual((Tensor([1.0, 2.0]) * 3).tolist(), [3, 6])
)";

struct Scope {
  std::string kind, name, parent;
};
std::vector<Scope> scopesOf(const Folder& f, const std::string& trace) {
  const Result r = call(f, {"ls", trace, "--json"});
  REQUIRE_MESSAGE(r.code == 0, r.err);
  const Json all = Json::parse(r.out).at("scopes");
  std::vector<Scope> out;
  for (const Json& s : all) {
    const int64_t parent = s.at("parent");
    out.push_back(
        {s.at("kind"), s.at("name"), parent ? all.at(static_cast<size_t>(parent) - 1).at("name") : ""});
  }
  return out;
}
size_t kernelsIn(const std::vector<Scope>& scopes, const std::string& parent) {
  return static_cast<size_t>(std::ranges::count_if(scopes, [&](const Scope& s) {
    return s.kind == "kernel" && s.parent.find(parent) != std::string::npos;
  }));
}

Result python(const Folder& f, const std::string& environment, const std::string& arguments) {
  const std::string out = f.file("out"), err = f.file("err");
  const std::string command = "cd " + shell(f.path) + " && " + kModules + environment + " /usr/bin/python3 " +
                              arguments + " >" + out + " 2>" + err;
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, textOf(out), textOf(err)};
}
} // namespace

TEST_CASE("each test of a recorded suite is a scope with what it compiled") {
  Folder f;
  f.file("test_suite.py", kSuite);
  Result r = call(f, {"record", "-q", "-o", "p.uoptrace", "-m", "pytest", "-q", "test_suite.py"});
  CHECK_MESSAGE(r.code == 0, ((r.out + r.err)));
  std::vector<Scope> scopes = scopesOf(f, "p.uoptrace");
  CHECK(kernelsIn(scopes, "test_suite.py::test_add") == 1);
  CHECK(kernelsIn(scopes, "test_suite.py::TestMul::test_") == 1);
  CHECK(std::ranges::count_if(scopes, [](const Scope& s) { return s.kind == "other"; }) == 3);

  r = call(f, {"record", "-q", "-o", "u.uoptrace", "-m", "unittest", "-q", "test_suite"});
  CHECK_MESSAGE(r.code == 0, ((r.out + r.err)));
  scopes = scopesOf(f, "u.uoptrace");
  CHECK(kernelsIn(scopes, "test_suite.TestMul.test_again") == 1);
  CHECK(kernelsIn(scopes, "test_suite.TestMul.test_mul") == 0); // an earlier test compiled it
}

TEST_CASE("a plain Python records by the environment, by name, and each process to a file of its own") {
  Folder f;
  f.file("add.py", "from tinygrad import Tensor\nprint((Tensor([1, 2]) + 1).tolist())\n");
  Result r = python(f, "UOPSCOPE_TRACE=a.uoptrace", "add.py");
  CHECK_MESSAGE(r.code == 0, r.err);
  CHECK(r.out == "[2, 3]\n");
  CHECK(kernelsIn(scopesOf(f, "a.uoptrace"), "") == 1);
  CHECK(uopscope::Trace(f.path / "a.uoptrace").status() == "complete");

  f.file("fails.py",
         "from tinygrad import Tensor\n(Tensor([1, 2]) + 1).tolist()\nraise KeyError('no such key')\n");
  r = python(f, "UOPSCOPE_TRACE=b.uoptrace", "fails.py");
  CHECK(r.code == 1);
  CHECK(uopscope::Trace(f.path / "b.uoptrace").status() == "failed");
  CHECK(uopscope::Trace(f.path / "b.uoptrace").meta("message").find("no such key") != std::string::npos);

  f.file("named.py",
         "import uopscope\nfrom tinygrad import Tensor\n(Tensor([1]) + 1).tolist()\n"
         "with uopscope.record('c.uoptrace'):\n  with uopscope.scope('here'): (Tensor([1, 2]) * 2).tolist()\n"
         "(Tensor([1, 2, 3]) - 1).tolist()\n");
  r = python(f, "", "named.py");
  CHECK_MESSAGE(r.code == 0, r.err);
  CHECK(kernelsIn(scopesOf(f, "c.uoptrace"), "here") == 1);
  CHECK(kernelsIn(scopesOf(f, "c.uoptrace"), "") == 1);

  f.file("many.py", "import multiprocessing, sys\nfrom tinygrad import Tensor\n"
                    "def work(n): return (Tensor([1] * n) + n).sum().item()\n"
                    "if __name__ == '__main__':\n  work(2)\n"
                    "  pool = multiprocessing.get_context(sys.argv[1]).Pool(2)\n"
                    "  print(pool.map(work, [3, 4]))\n  pool.close()\n  pool.join()\n");
  for (const char* way : {"fork", "spawn"}) {
    const std::string folder = std::string(way) + "/";
    r = python(f, "UOPSCOPE_TRACE=" + folder, std::string("many.py ") + way);
    CHECK_MESSAGE(r.code == 0, r.err);
    const Result listed = call(f, {"ls", folder, "--json"});
    REQUIRE_MESSAGE(listed.code == 0, listed.err);
    const Json traces = Json::parse(listed.out);
    CHECK(traces.size() >= 3);
    int64_t kernels = 0;
    for (const Json& t : traces) kernels += t.at("kernels").get<int64_t>();
    CHECK(kernels >= 3);
  }
  Result recorded = call(f, {"record", "-q", "-o", "recorded/", "many.py", "--", "fork"});
  CHECK_MESSAGE(recorded.code == 0, recorded.err);
  CHECK(Json::parse(call(f, {"ls", "recorded/", "--json"}).out).size() >= 3);
  recorded = call(f, {"record", "-q", "-o", "alone.uoptrace", "many.py", "--", "fork"}); // only the parent
  CHECK_MESSAGE(recorded.code == 0, recorded.err);
  CHECK(kernelsIn(scopesOf(f, "alone.uoptrace"), "") == 1);
  CHECK(call(f, {"ls", "."}).out.find("c.uoptrace") != std::string::npos);
}

TEST_CASE("settings of recordings do what they say") {
  Folder f;
  f.file("add.py", "from tinygrad import Tensor\nprint((Tensor([1, 2]) + 1).tolist())\n");
  const std::string temporary = "TMPDIR=" + shell(f.path) + " ";
  Result r = call(f, {"run", "add.py"}, temporary + "VIZ=-2");
  CHECK(r.code == 0);
  CHECK(r.err.find("VIZ=-2 records to") != std::string::npos);
  CHECK(r.err.find("counters of AMD's hardware") != std::string::npos);
  CHECK(r.out == "[2, 3]\n");
  r = call(f, {"run", "add.py"}, "TRACK_MATCH_STATS=3");
  CHECK(r.out.find(" us -- ") != std::string::npos);
  CHECK(r.err == ""); // 3 says more than 2
  CHECK(r.out.find("TOTAL") != std::string::npos);
  r = call(f, {"run", "add.py"}, "TRACK_MATCH_STATS=1 PRINT_MATCH_STATS=0");
  CHECK(r.out == "[2, 3]\n");
  r = call(f, {"python", "-c", "from tinygrad import Tensor; print((Tensor([1]) + 1).tolist())"},
           "UOPSCOPE_TRACE=x.uoptrace");
  CHECK(r.out == "[2]\n");
  CHECK(kernelsIn(scopesOf(f, "x.uoptrace"), "") == 1);
}

TEST_CASE("kernels compiled with rules of a script replay without the script") {
  Folder f;
  const std::string script = f.file("mine.py", R"(
from tinygrad import Tensor, Device
from tinygrad.codegen import rules_after
from tinygrad.dtype import dtypes
from tinygrad.uop.ops import Ops, PatternMatcher, UPat
def shift(x, c):
  return x.alu(Ops.SHL, x.const_like(3)) if c.arg == 8 else None
x = Tensor.arange(24).contiguous().realize()
with rules_after("initial symbolic", PatternMatcher([(UPat.var("x", dtypes.ints) * UPat.cvar("c"), shift)])):
  (x * 8 + 3).realize()
Device["CPU"].renderer.pre_matcher = PatternMatcher([(UPat(Ops.ADD, dtypes.int, (UPat.var("x"), UPat.cvar("c"))), lambda x, c: x - (-c.arg) if c.arg == 5 else None)])
(x * 8 + 5).realize()
)");
  REQUIRE(call(f, {"replay", "capture", "-q", "mine.py", "-o", "mine.uopcorpus"}).code == 0);
  REQUIRE(call(f, {"record", "-q", "mine.py", "-o", "mine.uoptrace"}, "CCACHE=0").code == 0);
  Result r =
      call(f, {"query", "mine.uoptrace", "SELECT count(*) FROM v_rewrite WHERE rule = 'shift'", "--json"});
  CHECK(contains(r.out, ": 1"));
  std::filesystem::remove(script);
  for (const char* file : {"mine.uopcorpus", "mine.uoptrace"}) {
    r = call(f, {"replay", "diff", file, "--assert-same"});
    CHECK_MESSAGE(r.code == 0, (r.out + r.err));
    CHECK_MESSAGE(contains(r.out, "nothing changed"), r.out);
  }
}

TEST_CASE("record --flip makes one choice of the schedule the other way, and says where there is none") {
  Folder f;
  f.file("model.py", R"(
from tinygrad import Tensor
a = (Tensor.arange(65536).reshape(1024, 64) / 1e5).contiguous().realize()
h = (a.exp() * a.sin()).sqrt()
Tensor.realize(h.sum(1), h.sum(0))
)");
  Result r = call(f, {"record", "-q", "model.py", "-o", "a.uoptrace"});
  REQUIRE_MESSAGE(r.code == 0, r.err);
  r = call(f, {"query", "a.uoptrace",
               "SELECT reason FROM v_decision WHERE reason LIKE 'it is stored once; FLIP=%'"});
  const size_t at = r.out.find("FLIP=");
  REQUIRE_MESSAGE(at != std::string::npos, (r.out + r.err));
  const std::string number = r.out.substr(at + 5, r.out.find(' ', at) - at - 5);
  r = call(f, {"record", "-q", "--flip", number, "model.py", "-o", "b.uoptrace"});
  CHECK_MESSAGE((r.code == 0 && r.err.find("no choice") == std::string::npos), r.err);
  r = call(f, {"query", "b.uoptrace", "SELECT reason FROM v_decision"});
  CHECK(r.out.find("its readers compute it again; FLIP=" + number) != std::string::npos);
  CHECK(kernelsIn(scopesOf(f, "b.uoptrace"), "") + 1 == kernelsIn(scopesOf(f, "a.uoptrace"), ""));
  r = call(f, {"record", "-q", "--flip", "77", "model.py", "-o", "c.uoptrace"});
  CHECK_MESSAGE(r.err.find("--flip 77: no choice of this script has that number") != std::string::npos,
                r.err);
}
