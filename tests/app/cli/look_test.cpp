// Verbs that show traces: filters, comparisons, exports, provenance, completions.
#include "tests/app/cli/support.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>

using namespace uopscope;
using namespace uopscope::test;

TEST_CASE("what is neither a file nor a verb is said to be so") {
  Folder f;
  Result r = call(f, {"frobnicate"});
  CHECK(r.code == 2);
  CHECK(contains(r.err, "\"frobnicate\" is neither a file nor a verb"));
  CHECK(contains(call(f, {"stat", "x"}).err, "did you mean stats?"));
}

TEST_CASE("lists are filtered and sorted") {
  Folder f;
  std::string trace = sampleTrace(f);
  Json kernels = Json::parse(call(f, {"ls", trace, "--kind", "kernel", "--json"}).out);
  REQUIRE(kernels["scopes"].size() == 1);
  CHECK(kernels["scopes"][0]["name"] == "r_4");
  CHECK(Json::parse(call(f, {"ls", trace, "--name", "nothing like it", "--json"}).out)["scopes"].empty());
  Json every = Json::parse(call(f, {"ls", trace, "r_4", "1", "--json"}).out);
  REQUIRE(!every.empty());
  std::string rule = every[0]["rule"];
  Json steps = Json::parse(call(f, {"ls", trace, "r_4", "1", "--name", rule, "--json"}).out);
  REQUIRE(!steps.empty());
  for (const auto& s : steps) CHECK(contains(s["rule"].get<std::string>(), rule));
  Json all = Json::parse(call(f, {"ls", trace, "r_4", "1", "--sort", "time", "--json"}).out);
  for (size_t k = 1; k < all.size(); ++k) CHECK(all[k - 1]["took_ns"] >= all[k]["took_ns"]);
  Json nodes = Json::parse(call(f, {"ls", trace, "--find", "range", "--limit", "2", "--json"}).out);
  CHECK(nodes["nodes"].size() == 2);
  CHECK(nodes["total"] == 4); // of six ranges, only those that the graph uses
  CHECK(contains(call(f, {"ls", trace, "--find", "range", "--limit", "2"}).out, "2 of 4 shown"));
  Json rules = Json::parse(call(f, {"stats", trace, "--sort", "attempts", "--name", "add", "--json"}).out);
  REQUIRE(rules.size() >= 2);
  CHECK(call(f, {"ls", trace, "--sort", "colour"}).code == 2);
}

TEST_CASE("diff says whether two traces tell the same story") {
  Folder f, g;
  std::string a = sampleTrace(f), b = sampleTrace(g), other = g.file("other.uoptrace");
  Result same = call(f, {"diff", a, b});
  CHECK(same.code == 0);
  CHECK(contains(same.out, "the same story"));
  recordTo(other, [] {
    Pool pool;
    PoolScope scope(pool);
    UOp root = randomGraph(5, 60);
    ObservedScope kernel({ScopeKind::Kernel, "r_4", {"model.py", 3}, root});
    graphRewrite(root, shrinking(), {.name = "initial symbolic"});
  });
  Result differs = call(f, {"diff", a, other, "--json"});
  CHECK(differs.code == 1);
  Json j = Json::parse(differs.out);
  CHECK(j["same"] == false);
  CHECK(!j["parting"]["what"].get<std::string>().empty());
  CHECK(call(f, {"diff", a, "nowhere.uoptrace"}).code == 2);
  CHECK(call(f, {"stats", a, "--diff", b}).code == 0);
  Result counts = call(f, {"stats", a, "--diff", other, "--json"});
  CHECK(counts.code == 1);
  CHECK(Json::parse(counts.out).size() > 3);
}

TEST_CASE("a whole trace goes to other programs") {
  Folder f;
  std::string trace = sampleTrace(f);
  REQUIRE(call(f, {"export", trace, "-o", f.file("t.trace.json")}).code == 0);
  Json events = Json::parse(textOf(f.file("t.trace.json")));
  size_t passes = 0, launches = 0;
  for (const auto& e : events["traceEvents"]) {
    passes += e.value("cat", "") == "pass";
    launches += e.value("cat", "") == "launch";
  }
  CHECK(passes >= 2);
  CHECK(launches == 1);
  REQUIRE(call(f, {"export", trace, "-o", f.file("t.jsonl")}).code == 0);
  std::istringstream lines(textOf(f.file("t.jsonl")));
  std::map<std::string, int> types;
  for (std::string line; std::getline(lines, line);) ++types[Json::parse(line)["type"].get<std::string>()];
  CHECK(types["trace"] == 1);
  CHECK(types["scope"] == 2);
  CHECK(types["step"] > 5);
  CHECK(types["node"] > 60);
}

TEST_CASE("a graph in DOT becomes a trace, and goes back") {
  Folder f;
  f.file("g.dot", "digraph \"g\" { // of somebody else\n  node [shape=box];\n  a [label=\"load\\nx\"];\n  "
                  "b:p [label=mul]\n"
                  "  a -> b -> c [color=red]; a -> c; /* twice */ subgraph cluster { d -> c } }\n");
  Result r = call(f, {"import", "g.dot", "--json"});
  REQUIRE(r.code == 0);
  CHECK(Json::parse(r.out)["made"] == "4 nodes");
  Json g = Json::parse(call(f, {"show", "g.uoptrace", "g", "--what", "graph", "--json"}).out);
  CHECK(g["nodes"].size() == 5);
  Result tree = call(f, {"show", "g.uoptrace", "g", "--what", "graph"});
  CHECK(contains(tree.out, "load x"));
  REQUIRE(call(f, {"export", "g.uoptrace", "g", "-o", "back.dot"}).code == 0);
  CHECK(Json::parse(call(f, {"import", "back.dot", "--json"}).out)["made"] == "5 nodes");
  f.file("circle.gv", "digraph { a -> b -> c -> a; c -> c }");
  r = call(f, {"import", "circle.gv", "--json"});
  REQUIRE(r.code == 0);
  CHECK(Json::parse(r.out)["made"] == "3 nodes; edges that close a circle, in labels only: 2");
  CHECK(contains(call(f, {"show", "circle.uoptrace", "circle", "--what", "graph"}).out, "(from c)"));
  REQUIRE(call(f, {"export", "g.uoptrace", "g", "-o", "back.pdf"}).code == 0);
  CHECK(textOf(f.file("back.pdf")).starts_with("%PDF"));
  for (const char* bad : {"digraph { a -> ", "digraph { }", "not a graph", "digraph { a [label=\"x }"}) {
    CAPTURE(bad);
    f.file("bad.dot", bad);
    Result refused = call(f, {"import", "bad.dot"});
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, "bad.dot: "));
  }
  CHECK(call(f, {"import", "nowhere.dot"}).code == 2);
}

TEST_CASE("shells get their completions") {
  Folder f;
  for (const char* shell : {"bash", "zsh", "fish"}) {
    Result r = call(f, {"completion", shell});
    CHECK(r.code == 0);
    for (const char* word : {"record", "export", "diff", "tier", "provenance"}) {
      CAPTURE(word);
      if (std::string_view(word) != "provenance") CHECK(contains(r.out, word));
    }
  }
  std::string script = f.file("complete.sh");
  std::ofstream(script)
      << call(f, {"completion", "bash"}).out
      << "COMP_WORDS=(uopscope st); COMP_CWORD=1; _uopscope; echo \"${COMPREPLY[@]}\"\n"
      << "COMP_WORDS=(uopscope record x --tier f); COMP_CWORD=4; _uopscope; echo \"${COMPREPLY[@]}\"\n";
  int status = std::system(("bash " + shell(script) + " > " + shell(f.file("completed"))).c_str());
  CHECK(status == 0);
  CHECK(contains(textOf(f.file("completed")), "stats"));
  CHECK(contains(textOf(f.file("completed")), "full"));
  CHECK(call(f, {"completion", "tcsh"}).code == 2);
}

#ifdef UOPSCOPE_HAVE_PYTHON
TEST_CASE("from a line of the script to machine code and back") {
  Folder f;
  f.file("model.py", "from tinygrad import Tensor\n"
                     "a = Tensor([1.0, 2.0, 3.0, 4.0] * 16).realize()\n"
                     "b = a * 3\n"
                     "c = b.sin()\n"
                     "print(c.tolist()[0] < 1)\n");
  REQUIRE(call(f, {"record", "model.py", "-q"}).code == 0);
  Result forwards =
      call(f, {"show", "model.uoptrace", "--what", "provenance", "--line", "model.py:3", "--json"});
  REQUIRE(forwards.code == 0);
  Json j = Json::parse(forwards.out);
  REQUIRE(!j["operations"].empty());
  REQUIRE(!j["kernels"].empty());
  Json kernel = j["kernels"][0];
  CHECK(!kernel["instructions"].empty());
  std::map<std::string, int64_t> some; // one line of each text
  for (const auto& line : kernel["lines"])
    some[line["text"].get<std::string>()] = line["line"].get<int64_t>();
  CHECK(some.contains("source"));
  std::string number = std::to_string(kernel["kernel"].get<int64_t>());
  for (const auto& [text, line] : some) {
    CAPTURE(text);
    Result back = call(f, {"show", "model.uoptrace", number, "--what", "provenance", "--line",
                           text + ":" + std::to_string(line), "--json"});
    REQUIRE(back.code == 0);
    std::set<std::string> scripts;
    Json answer = Json::parse(back.out);
    for (const auto& i : answer["instructions"])
      for (const auto& o : i["origins"]) scripts.insert(o["script"].get<std::string>());
    bool found = false;
    for (const std::string& s : scripts) found |= s.ends_with("model.py:3");
    CHECK(found);
  }
  // The script's output, phases and launches are in the trace.
  Trace trace(f.file("model.uoptrace"));
  auto outputs = trace.outputs();
  REQUIRE(outputs.size() == 1);
  CHECK(outputs[0].text == "True\n");
  CHECK(trace.phaseTotals().size() >= 4);
  REQUIRE(!trace.launches().empty());
  CHECK(trace.launches().back().compiled > 0);
  CHECK(trace.launches().back().buffers.size() >= 2);
  CHECK(!trace.buffers().empty());
  CHECK(!trace.meta("time.writer_ns").empty());
  CHECK(call(f, {"show", "model.uoptrace", number, "--what", "provenance"}).code == 0);
  CHECK(call(f, {"show", "model.uoptrace", number, "--what", "provenance", "--line", "source:99999"}).code ==
        2);
  CHECK(call(f, {"show", "model.uoptrace", "--what", "provenance", "--line", "nothing.py:1"}).code == 2);
  Result near = call(f, {"why", "model.uoptrace", number, "initial symbolic", "5", "--json"});
  CHECK(near.code == 0);
  CHECK(Json::parse(near.out)["rules"] > 20);
  // A rule that asks for the target is tried with the target of the kernel.
  const PassInfo windows = trace.pass(trace.findPass(trace.findScope(number), "windows"));
  Result asked =
      call(f, {"why", "model.uoptrace", number, "windows", std::to_string(windows.root), "stage-windows"});
  CHECK(asked.code == 0);
  CHECK(!contains(asked.out, "cannot be tried"));
  CHECK(contains(call(f, {"stats", "model.uoptrace", "--by", "phase"}).out, "lower"));
  CHECK(contains(call(f, {"stats", "model.uoptrace", "--by", "launch"}).out, "GFLOPS"));
}
#endif

TEST_CASE("two states are compared, in a trace and across two") {
  Folder f, g;
  std::string a = sampleTrace(f), b = sampleTrace(g);
  Result pass = call(f, {"compare", a, "kernel=r_4&pass=1", "--json"});
  CHECK(pass.code == 1); // the beginning and the end of the pass differ
  Json j = Json::parse(pass.out);
  CHECK(j["same"] == false);
  CHECK(!j["lines"].empty());
  CHECK(contains(call(f, {"compare", a, "kernel=r_4&pass=1"}).out, "@@"));
  Result same = call(f, {"compare", a, "kernel=r_4&pass=1&step=2", "--other", b});
  CHECK(same.code == 0);
  CHECK(contains(same.out, "the same graph"));
  CHECK(call(f, {"compare", a, "kernel=r_4&pass=1&step=1", "kernel=r_4&pass=1&step=2"}).code == 1);
  CHECK(call(f, {"compare", a, "kernel=r_4"}).code == 2);
  CHECK(call(f, {"compare", a, "kernel=r_4", "--what", "asm"}).code == 2);
}

TEST_CASE("a kernel of tiles is recorded, checked and told") {
  Folder f;
  f.file("tiles.py",
         "from tinygrad import Tensor, dtypes\n"
         "a = Tensor.ones(64, 64, dtype=dtypes.bfloat16, device='REF:AMX').contiguous().realize()\n"
         "b = Tensor.ones(64, 64, dtype=dtypes.bfloat16, device='REF:AMX').contiguous().realize()\n"
         "assert (a @ b).realize()[3, 5].item() == 64\n");
  REQUIRE(call(f, {"record", "tiles.py", "-q"}).code == 0);
  Json all = Json::parse(call(f, {"check", "tiles.uoptrace", "--json"}).out);
  CHECK(all["faults"].empty());
  CHECK(all["same"].get<int>() > 100);
  const std::string blind = call(f, {"check", "tiles.uoptrace", "--blind"}).out;
  CAPTURE(blind);
  CHECK_FALSE(contains(blind, "damaged"));
  const std::string text = call(f, {"query", "tiles.uoptrace", "SELECT name FROM v_pass", "--csv"}).out;
  CHECK(contains(text, "operands of tiles"));
}

TEST_CASE("rewrites are checked by their values, one or all") {
  Folder f;
  std::string trace = f.file("right.uoptrace");
  recordTo(trace, [] {
    Pool pool;
    PoolScope scope(pool);
    const UOp r0 = UOp::range(4, 0), r1 = UOp::range(7, 1);
    const UOp sum = (r0 + 0) * 1 + (r1 + 2 + 3) + r1 * 0;
    UOp root = UOp::sink(std::vector<UOp>{sum, sum + sum});
    ObservedScope kernel({ScopeKind::Kernel, "r_4", {"model.py", 3}, root});
    graphRewrite(root, shrinking(), {.name = "right"});
  });
  Json all = Json::parse(call(f, {"check", trace, "--json"}).out);
  CHECK(all["checked"].get<int>() >= 4);
  CHECK(all["same"].get<int>() + all["unknown"].get<int>() + all["unchanged"].get<int>() > 0);
  CHECK(all["faults"].empty());
  Json one = Json::parse(call(f, {"check", trace, "r_4", "--pass", "1", "--step", "1", "--json"}).out);
  CHECK(one["verdict"] == "same");
  CHECK(one["samples"].get<int>() > 0);
  CHECK(call(f, {"check", trace, "r_4", "--pass", "1", "--step", "100000"}).code == 2);
  CHECK(call(f, {"check", trace, "r_4"}).code == 2);
  // The check finds a wrong rule: exit code 1.
  std::string wrong = f.file("wrong.uoptrace");
  recordTo(wrong, [] {
    static constexpr RuleDef rules[] = {RULE("loses-one", x + 1, x)};
    static const PatternMatcher matcher({rules});
    Pool pool;
    PoolScope scope(pool);
    UOp root = UOp::sink(std::vector<UOp>{UOp::range(4, 0) + 1});
    ObservedScope kernel({ScopeKind::Kernel, "r_4", {"model.py", 3}, root});
    graphRewrite(root, matcher, {.name = "wrong"});
  });
  Result found = call(f, {"check", wrong});
  CHECK(found.code == 1);
  CHECK(contains(found.out, "loses-one"));
}

TEST_CASE("what a search tried is shown fastest first, with what was chosen and why others failed") {
  Folder f;
  std::string path = f.file("search.uoptrace");
  recordTo(path, [] {
    Pool pool;
    PoolScope scope(pool);
    Observer* o = Observer::current();
    UOp root = randomGraph(4, 20);
    ObservedScope kernel({ScopeKind::Kernel, "r_4", {"model.py", 3}, root});
    o->onCandidate({"[\"slow\"]", 9000, {}});
    o->onCandidate({"[\"broken\"]", -1, "needs too much memory"});
    o->onCandidate({"[\"fast\"]", 400, {}});
    o->onArtifact({"opts", "[\"fast\"]"});
  });
  Result text = call(f, {"show", path, "r_4", "--what", "candidates"});
  REQUIRE(text.code == 0);
  CHECK(text.out.find("fast") < text.out.find("slow"));
  CHECK(text.out.find("slow") < text.out.find("broken"));
  CHECK(contains(text.out, "[\"fast\"]  chosen"));
  CHECK(contains(text.out, "needs too much memory"));
  Json rows = Json::parse(call(f, {"show", path, "r_4", "--what", "candidates", "--json"}).out);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0]["took_ns"] == 400);
  CHECK(rows[0]["chosen"] == true);
  CHECK(rows[2]["took_ns"].is_null());
  Result none = call(f, {"show", sampleTrace(f), "r_4", "--what", "candidates"});
  CHECK(none.code == 2);
  CHECK(contains(none.err, "BEAM=2"));
}

TEST_CASE("passes of LLVM follow ours: which changed a kernel, and what one of them changed") {
  Folder f;
  const std::string path = f.file("ir.uoptrace");
  recordTo(path, [] {
    Pool pool;
    PoolScope scope(pool);
    ObservedScope kernel({ScopeKind::Kernel, "E_4", {"model.py", 3}, randomGraph(4, 20)});
    Observer::current()->onArtifact({"ir", "define void @E_4(ptr %data0, i32 %x) {\nentry:\n"
                                           "  %a = mul i32 %x, 8\n  %b = add i32 %a, 0\n"
                                           "  store i32 %b, ptr %data0, align 4\n  ret void\n}\n"});
  });
  const Json rows = Json::parse(call(f, {"show", path, "E_4", "--what", "llvm", "--json"}).out);
  REQUIRE(rows.size() > 1);
  CHECK(rows[0]["pass"] == "input");
  size_t simplified = 0; // which pass simplifies depends on LLVM's release
  for (size_t k = 1; k < rows.size(); ++k) {
    const Json step = Json::parse(
        call(f, {"show", path, "E_4", "--what", "llvm", "--step", std::to_string(k), "--json"}).out);
    if (!simplified && step["text"].get<std::string>().find("add i32") == std::string::npos) simplified = k;
  }
  REQUIRE(simplified > 0);
  const Result text = call(f, {"show", path, "E_4", "--what", "llvm", "--step", std::to_string(simplified)});
  CHECK(text.code == 0);
  CHECK(contains(text.out, "-  %b = add i32 %a, 0"));
  CHECK(contains(call(f, {"show", path, "E_4", "--what", "llvm"}).out, "as rendered"));
  // The list of our passes leads on to them, where there is IR.
  CHECK(contains(call(f, {"ls", path, "E_4"}).out, "then LLVM's passes: uopscope show " + path));
  CHECK(!contains(call(f, {"ls", sampleTrace(f), "r_4"}).out, "LLVM"));
  const Result beyond = call(f, {"show", path, "E_4", "--what", "llvm", "--step", "999"});
  CHECK(beyond.code == 2);
  CHECK(contains(beyond.err, "there is no step 999"));
  const Result none = call(f, {"show", sampleTrace(f), "r_4", "--what", "llvm"});
  CHECK(none.code == 2);
  CHECK(contains(none.err, "no LLVM IR"));
}

TEST_CASE("a decision is told by ls, show and why: reason, price, alternatives") {
  Folder f;
  const std::string trace = f.file("decided.uoptrace");
  recordTo(trace, [] {
    Pool pool;
    PoolScope scope(pool);
    const UOp r0 = UOp::range(4, 0);
    ObservedScope kernel({ScopeKind::Kernel, "k", {}, {}});
    because([] { return Decision{"a product is cheaper", 1.5, "cycles", {{"the sum", 3.0}}}; });
    graphRewrite(UOp::sink(std::vector<UOp>{r0 + r0}), shrinking(), {.name = "simplify"});
  });
  const Result steps = call(f, {"ls", trace, "k", "1"});
  CHECK(contains(steps.out, "twice *"));
  CHECK(contains(steps.out, "a decision"));
  const Json listed = Json::parse(call(f, {"ls", trace, "k", "1", "--json"}).out);
  CHECK(listed[0]["decisions"][0]["reason"] == "a product is cheaper");
  const Result shown = call(f, {"show", trace, "k", "--pass", "1", "--step", "1"});
  CHECK(contains(shown.out, "decided  a product is cheaper"));
  CHECK(contains(shown.out, "price    1.5 cycles"));
  CHECK(contains(shown.out, "instead  3  the sum  (2.0 times)"));
  const std::string node = std::to_string(listed[0]["before"].get<int64_t>());
  CHECK(contains(call(f, {"why", trace, "k", "1", node, "twice"}).out, "decided  a product is cheaper"));
  CHECK(contains(call(f, {"why", trace, "k", "1", node}).out, "fired in step 1: a product is cheaper"));
}

TEST_CASE("registers: how many are in use at once, where, by whom, and what the compiler spilled") {
  Folder f;
  const std::string trace = f.file("t.uoptrace");
  const std::string script =
      f.file("m.py", "from tinygrad import Tensor\n"
                     "a, b = Tensor.rand(64, 48).realize(), Tensor.rand(48, 32).realize()\n"
                     "(a @ b).gelu().realize()\n");
  REQUIRE(call(f, {"record", "-q", script, "-o", trace}).code == 0);
  const Json kernels = json(call(f, {"ls", trace, "--registers", "--json"}));
  REQUIRE(!kernels.empty());
  int64_t last = INT64_MAX;
  for (const Json& k : kernels) {
    CAPTURE(k.dump());
    CHECK(k["registers"].get<int64_t>() >= 16);
    CHECK(k["peak"].get<int64_t>() >= 1);
    REQUIRE(k["used"].is_object()); // LLVM says it
    const auto spilled = k["used"]["spilled_bytes"].get<int64_t>();
    CHECK(spilled <= last); // most first
    last = spilled;
    CHECK((spilled > 0) == (k["used"]["spills"].get<int64_t>() > 0));
    CHECK(k["used"]["registers"].get<int64_t>() <= k["registers"].get<int64_t>());
    const Json column = json(
        call(f, {"query", trace, "--json",
                 fmt::format("SELECT registers FROM kernel WHERE scope = {}", k["scope"].get<int64_t>())}));
    CHECK(column.dump().find(k["used"]["registers"].dump()) != std::string::npos);

    const std::string number = k["scope"].dump();
    const Json one = json(call(f, {"ls", trace, number, "--registers", "--json"}));
    const auto alive = one["alive"].get<std::vector<int64_t>>();
    REQUIRE(!alive.empty());
    CHECK(*std::ranges::max_element(alive) == k["peak"]);
    CHECK(alive[k["peak_at"].get<size_t>()] == k["peak"]);
    int64_t there = 0;
    for (const Json& v : one["alive_at_peak"])
      if (v["vector"] == true) there += v["registers"].get<int64_t>();
    CHECK(there == k["peak"]);
    const Result text = call(f, {"ls", trace, number, "--registers"});
    CHECK(contains(text.out, fmt::format("most alive behind instruction {}", k["peak_at"].get<int64_t>())));
  }
  const Result listed = call(f, {"ls", trace, "--registers", "--limit", "1"});
  CHECK(contains(listed.out, "reloaded in their code"));
  CHECK(contains(call(f, {"ls", sampleTrace(f), "--registers"}).out, "no kernel of this trace tells"));
  CHECK(call(f, {"ls", sampleTrace(f), "r_4", "--registers"}).code == 2);
}
