// Numbers of nodes at chosen iterations: right ones in every pass, wrong ones told with their step.
#include "tests/app/cli/support.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// A product whose sum stays a loop, and a sum over a padded row, whose reads are gated.
constexpr const char* kSums = R"(from tinygrad import Tensor, Context
with Context(CPU_TARGET=3, CPU_COUNT=1, NOOPT=1):
  a, b = Tensor.empty(8, 6).realize(), Tensor.empty(6, 8).realize()
  (a @ b).realize()
  c = Tensor.empty(4, 5).realize()
  (c.pad(((0, 0), (2, 3))) * 2).contiguous().realize()
)";

/// x * 8 becomes x << 2, in every kernel.
constexpr const char* kWrong = R"(from tinygrad import Tensor, Context, dtypes
from tinygrad.codegen import rules_after
from tinygrad.uop.ops import UPat, Ops, PatternMatcher
wrong = PatternMatcher([(UPat.var("x", dtypes.ints) * UPat.cvar("c"), lambda x, c: x.alu(Ops.SHL, x.const_like(2)) if c.arg == 8 else None)])
with Context(CPU_TARGET=3, CPU_COUNT=1), rules_after("initial symbolic", wrong):
  (Tensor.empty(4, dtype=dtypes.int).realize() * 8 + 1).realize()
)";

} // namespace

TEST_CASE("values: every pass of a product agrees with its first graph, at any iteration of its loops") {
  Folder f;
  const std::string script = f.file("sums.py", kSums), trace = f.file("sums.uoptrace");
  REQUIRE(call(f, {"record", script, "-o", trace, "-q"}).code == 0);
  std::string product;
  for (const Json& s : partOf(call(f, {"ls", trace, "--json"}), "scopes"))
    if (s.value("kind", "") == "kernel" && s.value("name", "").starts_with("r_")) product = s["id"].dump();
  REQUIRE(!product.empty());
  // data1[r0, k] counts from 6 r0, data2[k, r1] is 2: the element (3, 2) is 2 * (18 + ... + 23).
  const Json ways = json(call(f, {"values", trace, product, "--at", "r0=3,r1=2", "--input", "data1=count",
                                  "--input", "data2=2", "--json"}));
  REQUIRE(ways["elements"].size() == 1);
  CHECK(ways["elements"][0]["element"] == "data0[26]");
  CHECK(ways["elements"][0]["wrong_pass"] == "");
  CHECK(ways["elements"][0]["passes"].size() > 3);
  for (const Json& p : ways["elements"][0]["passes"]) CHECK_MESSAGE(p["text"] == "246", p.dump());
  const Json passes = json(call(f, {"ls", trace, product, "--json"}));
  bool accumulates = false;
  for (size_t k = 1; k <= passes.size(); ++k) {
    const Result r = call(f, {"values", trace, product, "--pass", std::to_string(k), "--at", "r0=3,r1=2,r2=4",
                              "--input", "data1=count", "--input", "data2=2", "--json"});
    const Json v = json(r);
    CHECK_MESSAGE(v["differ"] == 0, passes[k - 1]["name"]);
    for (const Json& n : v["nodes"])
      // In the fifth iteration the sum of four products lies in the register.
      if (n["op"] == "LOAD" && n["after"]["note"].get<std::string>().starts_with("acc") &&
          n["after"]["text"] == "156")
        accumulates = true;
  }
  CHECK(accumulates);
  const Result none = call(f, {"values", trace, product, "--pass", "1", "--at", "r9=1"});
  CHECK(none.code == 2);
  CHECK(contains(none.err, "there is no loop r9"));
  const Result far = call(f, {"values", trace, product, "--pass", "1", "--at", "r0=8"});
  CHECK(far.code == 2);
  CHECK(contains(far.err, "r0 goes from 0 to 7"));
  CHECK(contains(call(f, {"values", trace, product, "--pass", "1", "--at", "L0=8"}).err,
                 "r0 goes from 0 to 7"));
  CHECK(call(f, {"values", trace, product, "--at", "r0"}).code == 2);
  CHECK(call(f, {"values", trace, product, "--input", "data1=much"}).code == 2);
  CHECK(call(f, {"values", trace, product, "--step", "1"}).code == 2);
}

TEST_CASE("values: a gate that is off says so, and the alternative is read") {
  Folder f;
  const std::string script = f.file("sums.py", kSums), trace = f.file("sums.uoptrace");
  REQUIRE(call(f, {"record", script, "-o", trace, "-q"}).code == 0);
  std::string padded;
  for (const Json& s : partOf(call(f, {"ls", trace, "--json"}), "scopes"))
    if (s.value("kind", "") == "kernel" && s.value("name", "").starts_with("E_")) padded = s["id"].dump();
  REQUIRE(!padded.empty());
  auto loads = [&](const std::string& at) {
    std::string text;
    for (const Json& n : partOf(call(f, {"values", trace, padded, "--pass", "add control flow", "--at", at,
                                         "--input", "data1=7", "--json"}),
                                "nodes"))
      if (n["op"] == "LOAD")
        text = n["after"]["text"].get<std::string>() + " " + n["after"]["note"].get<std::string>();
    return text;
  };
  CHECK(loads("r1=1") == "0 gate off");
  CHECK(loads("r1=3") == "7 data1[1]");
}

TEST_CASE("values: a wrong rule is red where it applies, and the way of the stored element leads there") {
  Folder f;
  const std::string script = f.file("wrong.py", kWrong), trace = f.file("wrong.uoptrace");
  REQUIRE(call(f, {"record", script, "-o", trace, "-q"}).code == 0);
  std::string number;
  for (const Json& s : partOf(call(f, {"ls", trace, "--json"}), "scopes"))
    if (s.value("kind", "") == "kernel") number = s["id"].dump();
  const Result r = call(f, {"values", trace, number, "--input", "data1=3", "--json"});
  CHECK(r.code == 1);
  const Json way = json(r)["elements"][0];
  CHECK(way["wrong_pass"] == "after initial symbolic");
  CHECK(way["wrong_step"] == 1);
  CHECK(way["passes"][0]["text"] == "25");
  CHECK(way["passes"].back()["text"] == "13");
  const Result step = call(f, {"values", trace, number, "--pass", "after initial symbolic", "--step", "1",
                               "--input", "data1=3", "--json"});
  CHECK(step.code == 1);
  bool shown = false;
  for (const Json& n : partOf(step, "nodes"))
    if (n["op"] == "SHL") {
      shown = true;
      CHECK(n["differs"] == true);
      CHECK(n["before"]["text"] == "24");
      CHECK(n["after"]["text"] == "12");
    }
  CHECK(shown);
}

TEST_CASE("values: a bound variable has the script's value, another by --at, and loops end where it says") {
  Folder f;
  const std::string script = f.file("symbolic.py", R"(from tinygrad import Tensor, Variable
x = Tensor.empty(10, 4).realize()
n = Variable("n", 1, 10).bind(7)
(x[:n].sum(axis=0) * 2).realize()
(x[:n] + 1).sum(axis=1).realize()
)"),
                    trace = f.file("symbolic.uoptrace");
  REQUIRE(call(f, {"record", script, "-o", trace, "-q"}).code == 0);
  std::vector<std::string> kernels;
  for (const Json& s : partOf(call(f, {"ls", trace, "--json"}), "scopes"))
    if (s.value("kind", "") == "kernel") kernels.push_back(s["id"].dump());
  REQUIRE(kernels.size() == 2);
  auto loopOf = [&](const Json& values, const std::string& name) {
    for (const Json& l : values["loops"])
      if (l["name"] == name) return l;
    return Json();
  };
  auto stored = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all{"values", trace, kernels[0], "--input", "data1=1", "--json"};
    all.insert(all.end(), more.begin(), more.end());
    const Json ways = json(call(f, all));
    REQUIRE(ways["elements"].size() == 1);
    CHECK(ways["elements"][0]["wrong_pass"] == "");
    for (const Json& p : ways["elements"][0]["passes"])
      CHECK_MESSAGE(p["text"] == ways["elements"][0]["passes"][0]["text"], p.dump());
    return ways["elements"][0]["passes"][0]["text"].get<std::string>();
  };
  CHECK(stored({}) == "14"); // twice the sum of seven rows
  CHECK(stored({"--at", "n=3"}) == "6");
  const Json at = json(call(f, {"values", trace, kernels[0], "--pass", "1", "--json"}));
  CHECK(loopOf(at, "n")["at"] == 7);
  CHECK(loopOf(at, "r1")["last"] == 6);
  CHECK(at["differ"] == 0);
  const Result same = call(f, {"values", trace, kernels[0], "--pass", "1", "--at", "n=3,r1=2"});
  CHECK_MESSAGE(same.code == 0, same.out);
  const Result far = call(f, {"values", trace, kernels[0], "--pass", "1", "--at", "n=3,r1=3"});
  CHECK(far.code == 2);
  CHECK(contains(far.err, "r1 goes from 0 to 2, not to 3"));
  CHECK(contains(call(f, {"values", trace, kernels[0], "--pass", "1", "--at", "n=11"}).err,
                 "n goes from 1 to 10, not to 11"));
  // A loop over rows that has as many iterations as there are rows.
  CHECK(call(f, {"values", trace, kernels[1], "--at", "r0=6"}).code == 0);
  CHECK(contains(call(f, {"values", trace, kernels[1], "--at", "n=2,r0=1"}).out, "data0[1]"));
}
