// Exported files come back as traces; files of other programs are read, or refused with a reason.
#include "tests/app/cli/support.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::test;

namespace {
size_t countOf(const std::string& text, std::string_view part) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++n;
  return n;
}
} // namespace

TEST_CASE("a trace that went through JSON lines is the same trace") {
  Folder f;
  for (std::string trace :
       {sampleTrace(f), std::string(UOPSCOPE_SOURCE_DIR) + "/tests/data/version-2.uoptrace",
        std::string(UOPSCOPE_SOURCE_DIR) + "/tests/data/version-3.uoptrace"}) {
    CAPTURE(trace);
    // Older traces have times of attempts to the nanosecond; an import rounds them to 32 (match_blocks.h).
    if (trace.find("version-") != std::string::npos) {
      REQUIRE(call(f, {"export", trace, "-o", "older.jsonl"}).code == 0);
      std::filesystem::remove(f.file("now.uoptrace"));
      trace = f.file("now.uoptrace");
      REQUIRE(call(f, {"import", "older.jsonl", "-o", trace}).code == 0);
    }
    REQUIRE(call(f, {"export", trace, "-o", "a.jsonl"}).code == 0);
    Result imported = call(f, {"import", "a.jsonl", "-o", "back.uoptrace"});
    CHECK(imported.err.find("back.uoptrace") != std::string::npos);
    REQUIRE(imported.code == 0);
    REQUIRE(call(f, {"export", "back.uoptrace", "-o", "b.jsonl"}).code == 0);
    CHECK(textOf(f.file("a.jsonl")) == textOf(f.file("b.jsonl")));
    Result same = call(f, {"diff", trace, "back.uoptrace"});
    CAPTURE(same.out);
    CHECK(same.code == 0);
    CHECK(call(f, {"stats", trace, "--diff", "back.uoptrace"}).code == 0);
    CHECK(call(f, {"ls", trace, "--json"}).code == 0);
  }
}

TEST_CASE("a timeline comes back, ours and another program's") {
  Folder f;
  std::string trace = sampleTrace(f);
  REQUIRE(call(f, {"export", trace, "-o", "t.trace.json"}).code == 0);
  Result r = call(f, {"import", "t.trace.json", "-o", "back.uoptrace", "--json"});
  REQUIRE(r.code == 0);
  CHECK(Json::parse(r.out)["scopes"] == 2);
  Json scopes = Json::parse(call(f, {"ls", "back.uoptrace", "--json"}).out)["scopes"];
  REQUIRE(scopes.size() == 2);
  CHECK(scopes[1]["name"] == "r_4");
  Result passes = call(f, {"ls", "back.uoptrace", "r_4"});
  CHECK(contains(passes.out, "initial symbolic"));
  Json launches = Json::parse(call(f, {"stats", "back.uoptrace", "--by", "launch", "--json"}).out);
  CHECK(contains(launches.dump(), "r_4"));

  f.file("other.json", R"([{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"worker"}},
    {"ph":"X","name":"aten::mm","pid":1,"tid":2,"ts":10.5,"dur":4},
    {"ph":"B","name":"outer","pid":1,"tid":3,"ts":11},{"ph":"E","pid":1,"tid":3,"ts":13},
    {"ph":"C","name":"memory","ts":11,"args":{"bytes":3}}])");
  REQUIRE(call(f, {"import", "other.json"}).code == 0);
  Json rows =
      Json::parse(call(f, {"query", "other.uoptrace",
                           "SELECT kernel, device, begin_ns, took_ns FROM v_launch ORDER BY id", "--json"})
                      .out);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["kernel"] == "aten::mm");
  CHECK(rows[0]["device"] == "worker");
  CHECK(rows[0]["took_ns"] == 4000);
  CHECK(rows[1]["begin_ns"] == 500);
  CHECK(rows[1]["took_ns"] == 2000);
}

TEST_CASE("tables of steps, of statistics and of spans come back from CSV") {
  Folder f;
  std::string trace = sampleTrace(f);
  REQUIRE(call(f, {"export", trace, "r_4", "--pass", "initial symbolic", "-o", "steps.csv"}).code == 0);
  REQUIRE(call(f, {"import", "steps.csv"}).code == 0);
  Json before = Json::parse(call(f, {"ls", trace, "r_4", "1", "--json"}).out),
       after = Json::parse(call(f, {"ls", "steps.uoptrace", "steps", "1", "--json"}).out);
  REQUIRE(before.size() == after.size());
  for (size_t k = 0; k < before.size(); ++k) CHECK(before[k]["rule"] == after[k]["rule"]);
  CHECK(call(f, {"show", "steps.uoptrace", "steps", "--step", "1", "--what", "diff"}).code == 0);

  REQUIRE(call(f, {"export", trace, "-o", "stats.csv"}).code == 0);
  REQUIRE(call(f, {"import", "stats.csv"}).code == 0);
  Json was = Json::parse(call(f, {"stats", trace, "--json", "--sort", "name"}).out),
       is = Json::parse(call(f, {"stats", "stats.uoptrace", "--json", "--sort", "name"}).out);
  REQUIRE(was.size() == is.size());
  for (size_t k = 0; k < was.size(); ++k) CHECK(was[k]["attempts"] == is[k]["attempts"]);

  f.file("spans.csv", "name,ts,dur\n\"a, \"\"b\"\"\",1,2.5\nc,4,1\n");
  REQUIRE(call(f, {"import", "spans.csv"}).code == 0);
  Result rows = call(f, {"query", "spans.uoptrace", "SELECT kernel, took_ns FROM v_launch", "--csv"});
  CHECK(contains(rows.out, "2500"));
  CHECK(contains(rows.out, "a, \"\"b\"\""));
}

namespace {
/// Writes a profile as tinygrad does, with the classes that its pickle names; the thread trace holds a wavefront.
constexpr const char* kProfile = R"(
import decimal, importlib, pickle, sys, types
kinds = {}
def kind(module, name):
  made = type(name, (), {"__module__": module})
  try: importlib.import_module(module)
  except ImportError:
    for part in (module.split(".")[0], module): sys.modules.setdefault(part, types.ModuleType(part))
  setattr(sys.modules[module], name, made)
  return made
def event(event_kind, module="tinygrad.helpers", **fields):
  made = kinds[event_kind] = kinds.get(event_kind) or kind(module, event_kind)
  result = made()
  result.__dict__.update(fields)
  return result
us = decimal.Decimal
half = []
def put(bits, length): half.extend((bits >> k) & 15 for k in range(0, length, 4))
put(0x11 | 3 << 7, 64)
put(0x01 | 1 << 9 | 100 << 12, 48)      # the clock: 1,000 ns
put(0x0c, 32)                            # SIMD 0, slot 0
put(0x02 | 0x01 << 13, 20)               # scalar memory
put(0x01 | 400 << 12, 48)                # 400 cycles
put(0x15, 20)                            # it ends
put(0x01 | 1 << 9 | 200 << 12, 48)      # 1,000 ns later
blob = bytes(half[k] | (half[k + 1] if k + 1 < len(half) else 0) << 4 for k in range(0, len(half), 2))
module = "tinygrad.device"
pickle.dump([event("ProfileRangeEvent", device="TINY", name="\x1b[31mschedule\x1b[0m", st=us("5000.5"), en=us("5002"), is_copy=False),
  event("ProfileRangeEvent", device="AMD", name="E_4", st=us("700"), en=us("701"), is_copy=False),
  event("ProfileRangeEvent", device="AMD", name="E_4", st=us("1"), en=us("2.5"), is_copy=False),
  event("ProfileRangeEvent", device="AMD", name="open", st=us("1"), en=None, is_copy=True),
  event("ProfileDeviceEvent", module, device="AMD", comp_tdiff=us("5005"), copy_tdiff=us("5006"), props={}),
  event("ProfileProgramEvent", module, device="AMD", name="E_4", lib=b"no object", base=0, tag=3),
  event("ProfileSQTTEvent", "tinygrad.runtime.ops_amd", device="AMD", kern=3, se=2, blob=blob, itrace=True, exec_tag=0),
  event("ProfileSQTTEvent", "tinygrad.runtime.ops_amd", device="AMD", kern="E_4", se=3, blob=b"\x07\x07", itrace=True, exec_tag=0),
  event("ProfileGraphEvent", module, ents=[event("ProfileGraphEntry", module, device="AMD", name="in a graph", st_id=0, en_id=1, is_copy=False),
     event("ProfileGraphEntry", module, device="AMD", name="wrong", st_id=7, en_id=9, is_copy=False)], deps=[], sigs=[us("3"), us("4")]),
  event("Unknown", "anything.at_all", value=1), 7], open(sys.argv[1], "wb"))
)";
} // namespace

TEST_CASE("a profile of tinygrad comes with its launches and its thread traces") {
  Folder f;
  REQUIRE(call(f, {"python", f.file("make.py", kProfile), f.file("p.pkl")}).code == 0);
  Result made = call(f, {"import", "p.pkl"});
  CAPTURE(made.err);
  REQUIRE(made.code == 0);
  CHECK(contains(made.err, "1 wavefront of 1 kernel, 1 instruction of 1 of them (0 follow their program)"));
  CHECK(contains(made.err, "E_4: no code object"));                            // the program is none
  CHECK(contains(made.err, "E_4, shader engine 3: byte 0 of a thread trace")); // nor are its bytes a trace
  const Json rows =
      Json::parse(call(f, {"query", "p.uoptrace",
                           "SELECT kernel, device, begin_ns, took_ns FROM v_launch ORDER BY id", "--json"})
                      .out);
  const Json expected = Json::array({
      {{"kernel", "schedule"}, {"device", "TINY"}, {"begin_ns", 0}, {"took_ns", 1500}},
      {{"kernel", "E_4"}, {"device", "AMD"}, {"begin_ns", 704500}, {"took_ns", 1000}},
      {{"kernel", "E_4"}, {"device", "AMD"}, {"begin_ns", 5500}, {"took_ns", 1500}},
      {{"kernel", "open"}, {"device", "AMD"}, {"begin_ns", 6500}, {"took_ns", 0}},
      {{"kernel", "in a graph"}, {"device", "AMD"}, {"begin_ns", 7500}, {"took_ns", 1000}},
      // The clock of the trace is that of the launches, and tells which of the two it was: both begin at 1,000 ns.
      {{"kernel", "E_4"},
       {"device", "AMD SE 2, WGP 0, SIMD 0, slot 0"},
       {"begin_ns", 5500},
       {"took_ns", 1000}},
      {{"kernel", "scalar memory"},
       {"device", "AMD SE 2, WGP 0, SIMD 0, slot 0"},
       {"begin_ns", 5500},
       {"took_ns", 0}},
  });
  CHECK(rows == expected);
  CHECK(contains(call(f, {"ls", "p.uoptrace"}).out, "E_4"));
}

TEST_CASE("a made profile runs nothing, and a wrong one is refused in a sentence") {
  Folder f;
  // A pickle that calls os.system, one that fills a dictionary by a class, and one that ends early.
  f.file("evil.pkl", "cos\nsystem\n(S'touch " + f.file("ran") + "'\ntR.");
  for (const char* name : {"evil.pkl", "empty.pkl", "text.pkl", "number.pkl", "cut.pkl", "list.pkl"}) {
    if (std::string_view(name) == "empty.pkl") f.file(name, " ");
    if (std::string_view(name) == "text.pkl") f.file(name, "this is no pickle");
    if (std::string_view(name) == "number.pkl") f.file(name, "I7\n.");
    if (std::string_view(name) == "cut.pkl") f.file(name, "(lp0\nI7\na");
    if (std::string_view(name) == "list.pkl") f.file(name, "(lp0\nI7\na.");
    Result r = call(f, {"import", name});
    CAPTURE(name);
    CAPTURE(r.err);
    CHECK(r.code == 2);
    CHECK(contains(r.err, "no profile of tinygrad"));
    CHECK_FALSE(contains(r.err, "Traceback"));
  }
  CHECK_FALSE(std::filesystem::exists(f.file("ran")));
  CHECK_FALSE(std::filesystem::exists(f.file("evil.uoptrace")));
}

TEST_CASE("what cannot be imported is refused by line and leaves nothing behind") {
  Folder f;
  const std::pair<const char*, const char*> wrong[] = {
      {"x.jsonl", "{\"type\":\"node\",\"op\":\"ADD\",\"dtype\":\"dtypes.int\",\"src\":[1]}\n"},
      {"x.jsonl", "{\"type\":\"node\",\"op\":\"NOPE\",\"dtype\":\"dtypes.int\"}\n"},
      {"x.jsonl", "{\"type\":\"node\",\"op\":\"ADD\",\"dtype\":\"float9\"}\n"},
      {"x.jsonl", "{\"type\":\"node\",\"op\":\"ADD\",\"dtype\":\"dtypes.int\",\"arg\":\"((((\"}\n"},
      {"x.jsonl", "{\"type\":\"step\",\"id\":\"one\"}\n"},
      {"x.jsonl", "{\"type\":\"step\",\"nonsense\":1}\n"},
      {"x.jsonl", "{\"type\":\"sqlite_schema\"}\n"},
      {"x.jsonl", "[1]\n"},
      {"x.jsonl", "{\"type\":\n"},
      {"x.csv", "a,b\n1,2\n"},
      {"x.csv", "name,begin_ns,took_ns\nk,1\n"},
      {"x.csv", "name,begin_ns,took_ns\nk,1,\"2\n"},
      {"x.csv", "name,begin_ns,took_ns\nk,one,2\n"},
      {"x.json", "{\"a\":1}"},
      {"x.json", "[{\"ph\":\"X\",\"ts\":\"text\"}"},
      {"x.json", "[]"},
      {"x.txt", "hello\n"},
  };
  for (const auto& [name, text] : wrong) {
    CAPTURE(text);
    f.file(name, text);
    Result r = call(f, {"import", name, "-o", "out.uoptrace"});
    CHECK(r.code == 2);
    CHECK(contains(r.err, std::string(name) + ": "));
    CHECK_FALSE(std::filesystem::exists(f.file("out.uoptrace")));
  }
  CHECK(call(f, {"import", "nowhere.jsonl"}).code == 2);
  CHECK(countOf(call(f, {"import", "."}).err, "\n") == 1);
}

TEST_CASE("an import that fails leaves the trace that was there") {
  Folder f;
  std::string trace = sampleTrace(f), before = textOf(trace);
  f.file("bad.jsonl", "{\"nonsense\":\n");
  f.file("bad.csv", "a,b\n1,2\n");
  for (const char* bad : {"bad.jsonl", "bad.csv"}) {
    CHECK(call(f, {"import", bad, "-o", trace}).code == 2);
    CHECK(textOf(trace) == before);
    CHECK_FALSE(std::filesystem::exists(trace + ".importing"));
  }
}
