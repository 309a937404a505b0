// Rules of a file on a trace, and recordings in which they take part.
#include "tests/app/cli/support.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::test;

namespace {

constexpr const char* kIntegerScript = R"(from tinygrad import Tensor, Context, dtypes
with Context(CPU_TARGET=3, CPU_COUNT=1):
  (Tensor.empty(64, dtype=dtypes.int).realize() * 8 + 1).realize()
)";
constexpr const char* kRules = R"(from tinygrad import dtypes
from tinygrad.uop.ops import UPat, Ops, PatternMatcher
after = "initial symbolic"
def power_of_two(x, c):
  bits = c.arg.bit_length() - 1
  if c.arg != 1 << bits: return None
  return x.alu(Ops.SHL, x.const_like(bits))
rules = PatternMatcher([(UPat.var("x", dtypes.int) * UPat.cvar("c"), power_of_two)])
)";

} // namespace

TEST_CASE("rule: where a rule matches, what it makes, whether it is right, and what the kernels gain") {
  Folder f;
  const std::string script = f.file("script.py", kIntegerScript), rules = f.file("mine.py", kRules),
                    trace = f.file("t.uoptrace");
  REQUIRE(call(f, {"record", script, "-o", trace, "-q"}).code == 0);
  const Result r = call(f, {"rule", rules, trace, "--json"});
  CHECK(r.code == 0);
  const Json out = json(r);
  CHECK(out["after"] == "initial symbolic");
  REQUIRE(out["rules"].size() == 1);
  const Json& rule = out["rules"][0];
  CHECK(rule["rule"] == "power_of_two");
  CHECK(rule["nodes"] == 1);
  CHECK(rule["same"] == 1);
  CHECK(rule["differ"].empty());
  CHECK(rule["problem"] == "");
  bool joins = false;
  for (const Json& p : rule["places"])
    if (p["joins"] == true)
      joins = contains(p["after"].get<std::string>(), "<<") || !p["after"].get<std::string>().empty();
  CHECK(joins);
  CHECK(out["compiled"] == 1);
  REQUIRE(out["proofs"].size() == 1);
  CHECK(out["proofs"][0]["status"] != "refuted");
  const Result text = call(f, {"rule", rules, trace});
  CHECK(contains(text.out, "power_of_two (mine.py:"));
  CHECK(contains(text.out, "1 node of E_"));
  CHECK(contains(text.out, "prove: power_of_two"));
}

TEST_CASE("rule: a wrong rule is told with values, a rule that fails with its message") {
  Folder f;
  const std::string script = f.file("script.py", kIntegerScript), trace = f.file("t.uoptrace");
  REQUIRE(call(f, {"record", script, "-o", trace, "-q"}).code == 0);
  std::string wrong = kRules;
  wrong.replace(wrong.find("const_like(bits)"), 16, "const_like(bits - 1)");
  const Result r = call(f, {"rule", f.file("wrong.py", wrong), trace, "--json"});
  CHECK(r.code == 1);
  CHECK(json(r)["rules"][0]["differ"].size() == 1);
  std::string raises = kRules;
  raises.replace(raises.find("  bits = c.arg"), 14, "  bits = c.nothing");
  const Result fails = call(f, {"rule", f.file("raises.py", raises), trace, "--json"});
  CHECK(fails.code == 1);
  CHECK(contains(json(fails)["rules"][0]["problem"].get<std::string>(), "nothing"));
}

TEST_CASE("rule: faults of the file are told with their line, and nothing waits for ever") {
  Folder f;
  const std::string trace = sampleTrace(f);
  const Result syntax = call(f, {"rule", f.file("a.py", "x = 1\ny = (\n"), trace});
  CHECK(syntax.code == 2);
  CHECK(contains(syntax.err, "a.py:2: SyntaxError"));
  const Result raised =
      call(f, {"rule", f.file("b.py", "x = 1\n\nraise ValueError('no such thing')\n"), trace});
  CHECK(raised.code == 2);
  CHECK(contains(raised.err, "b.py:3: ValueError: no such thing"));
  const Result empty = call(f, {"rule", f.file("c.py", "x = 1\n"), trace});
  CHECK(empty.code == 2);
  CHECK(contains(empty.err, "leaves no PatternMatcher"));
  std::string elsewhere = kRules;
  elsewhere.replace(elsewhere.find("initial symbolic"), 16, "no such pass");
  const Result pass = call(f, {"rule", f.file("d.py", elsewhere), trace});
  CHECK(pass.code == 2);
  CHECK(contains(pass.err, "no pass is called \"no such pass\""));
  const Result late = call(f, {"rule", f.file("e.py", "while True: pass\n"), trace, "--timeout", "1"});
  CHECK(late.code == 2);
  CHECK(contains(late.err, "did not end within 1 s"));
  CHECK(call(f, {"rule", "nowhere.py", trace}).code == 2);
}

TEST_CASE("record --rules: the rules of a file take part in a script") {
  Folder f;
  const std::string script = f.file("script.py", kIntegerScript), rules = f.file("mine.py", kRules),
                    trace = f.file("t.uoptrace");
  auto applied = [&] {
    return json(
        call(f, {"query", trace,
                 "SELECT pass_name, count(*) AS n FROM v_rewrite WHERE rule = 'power_of_two' GROUP BY 1",
                 "--json"}));
  };
  REQUIRE(call(f, {"record", script, "-o", trace, "-q", "--rules", rules}).code == 0);
  Json rows = applied();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0]["pass_name"] == "after initial symbolic");
  REQUIRE(
      call(f, {"record", script, "-o", trace, "-q", "--rules", rules, "--after", "postopt symbolic"}).code ==
      0);
  rows = applied();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0]["pass_name"] == "after postopt symbolic");
  const Result broken = call(f, {"record", script, "-o", trace, "-q", "--rules", f.file("bad.py", "1 +\n")});
  CHECK(broken.code == 2);
  CHECK(contains(broken.err, "bad.py:1: SyntaxError"));
  CHECK(call(f, {"record", script, "-o", trace, "-q", "--rules", "nowhere.py"}).code == 2);
}

TEST_CASE("whatif --keep writes corpora that can be stepped through together") {
  Folder f;
  const std::string script = f.file("script.py", kIntegerScript), trace = f.file("t.uoptrace");
  REQUIRE(call(f, {"record", script, "-o", trace, "-q"}).code == 0);
  std::string number;
  for (const Json& s : partOf(call(f, {"ls", trace, "--json"}), "scopes"))
    if (s.value("kind", "") == "kernel") number = s["id"].dump();
  REQUIRE(
      call(f, {"whatif", trace, "--kernel", number, "--opts", "none", "--no-times", "--keep", f.file("both")})
          .code == 0);
  const Result r =
      call(f, {"replay", "diff", f.file("both-0.uopcorpus"), f.file("both-1.uopcorpus"), "--json"});
  CHECK(r.code == 0);
  CHECK(contains(r.out, "\"changed\""));
  // What a file is says its content, whatever its name.
  for (auto [from, to] :
       {std::pair{trace, f.file("a.trace")}, {f.file("both-0.uopcorpus"), f.file("a.corpus")}}) {
    std::filesystem::copy_file(from, to);
    CHECK(call(f, {"whatif", to, "--opts", "none", "--no-times"}).code == 0);
  }
  CHECK(call(f, {"whatif", f.file("a.trace"), "--kernel", number, "--opts", "none", "--no-times"}).code == 0);
  CHECK(contains(call(f, {"bisect", f.file("a.trace")}).err, "name it with --kernel"));
}
