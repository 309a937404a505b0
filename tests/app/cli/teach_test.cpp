// Offline sessions, stories, what-if and bisection in use.
#include "replay/read/opening.h"
#include "tests/app/cli/support.h"

#include <doctest/doctest.h>

#include <fstream>
#include <set>

using namespace uopscope;
using namespace uopscope::test;

namespace {

constexpr const char* kProduct = R"(from tinygrad import Tensor, Context
with Context(CPU_TARGET=3, CPU_COUNT=1):
  a, b = Tensor.ones(16, 16).contiguous().realize(), Tensor.ones(16, 16).contiguous().realize()
  assert (a @ b).realize().numpy().sum() == 16 ** 3
)";

/// The JSON inside a page.
Json dataOf(const std::string& html) {
  const size_t from = html.find("id=\"data\">") + 10, to = html.find("</script>", from);
  return Json::parse(html.substr(from, to - from));
}

/// A trace whose names and texts are markup.
std::string hostileTrace(const Folder& f) {
  const std::string path = f.file("hostile.uoptrace");
  recordTo(path, [] {
    Pool pool;
    PoolScope scope(pool);
    UOp root = randomGraph(3, 40);
    ObservedScope kernel({ScopeKind::Kernel, "</script><img src=x onerror=alert(1)>", {"<b>.py", 3}, root});
    graphRewrite(root, shrinking(), {.name = "<script>alert(1)</script>"});
    Observer::current()->onArtifact(
        {"source", "</pre></script><script>alert('\xff')</script> & \"quotes\"\n"});
  });
  return path;
}

} // namespace

TEST_CASE("a session is one file that needs nothing else") {
  Folder f;
  const std::string trace = sampleTrace(f), page = f.file("s.html");
  const std::string lesson =
      f.file("lesson.md",
             "# Look\nat [this](kernel=r_4&pass=1&step=1) and [that](https://example.org/x) <script>\n");
  REQUIRE(call(f, {"export", trace, "--what", "session", "--lesson", lesson, "-o", page}).code == 0);
  const std::string html = textOf(page);
  CHECK(html.size() > 50'000);
  CHECK(!contains(html, "src=\"http"));
  CHECK(!contains(html, "href=\"http"));
  CHECK(contains(html, "href=\"#kernel=r_4&amp;pass=1&amp;step=1\""));
  CHECK(contains(html, "and that (https://example.org/x) &lt;script&gt;"));
  CHECK(contains(html, "default-src 'none'"));
  const Json data = dataOf(html);
  REQUIRE(data["scopes"].size() == 2);
  for (const auto& scope : data["scopes"])
    for (const auto& pass : scope["passes"]) {
      REQUIRE(pass.contains("rows"));
      CHECK(pass["rows"].size() == pass["steps"].get<size_t>());
      REQUIRE(pass["pictures"]["states"].size() == pass["rows"].size() + 1);
      // A walk through all differences never removes an absent box and never adds a present one.
      std::set<int> boxes;
      for (const auto& state : pass["pictures"]["states"]) {
        for (const auto& b : state[1]) CHECK(boxes.erase(b.get<int>()) == 1);
        for (const auto& b : state[0]) CHECK(boxes.insert(b.get<int>()).second);
        for (const auto& m : state[4]) CHECK(boxes.contains(m.get<int>() >> 2));
      }
    }
  CHECK(data["limits"].empty());
}

TEST_CASE("what does not fit into a session is said") {
  Folder f;
  const std::string trace = sampleTrace(f), page = f.file("s.html");
  Result one =
      call(f, {"export", trace, "--what", "session", "--kernel", "r_4", "--pass", "1", "-o", page, "--json"});
  REQUIRE(one.code == 0);
  CHECK(contains(one.err, "was chosen"));
  CHECK(Json::parse(one.out)["limits"].size() == 2);
  CHECK(dataOf(textOf(page))["scopes"][0]["passes"].size() == 1);
  CHECK(call(f, {"export", trace, "--what", "session", "--pass", "1", "-o", page}).code == 2);
  CHECK(call(f, {"export", trace, "--what", "session", "-o", f.file("s.svg")}).code == 2);
  CHECK(call(f, {"export", trace, "--lesson", "x.md", "-o", page}).code == 2);
  CHECK(call(f, {"export", trace, "--what", "session", "--lesson", "nowhere.md", "-o", page}).code == 2);
}

TEST_CASE("nothing of a trace is markup in a session or a story") {
  Folder f;
  const std::string trace = hostileTrace(f), page = f.file("s.html"), story = f.file("story.html");
  REQUIRE(call(f, {"export", trace, "--what", "session", "-o", page}).code == 0);
  REQUIRE(call(f, {"story", trace, "-o", story}).code == 0);
  for (const std::string& file : {page, story}) {
    const std::string html = textOf(file);
    CHECK(!contains(html, "<img"));
    CHECK(!contains(html, "<script>alert"));
    CHECK(!contains(html, "\xff"));
  }
  CHECK(dataOf(textOf(page))["scopes"][0]["name"] == "</script><img src=x onerror=alert(1)>");
}

TEST_CASE("a story has eight to twelve chapters with a sentence for every pass") {
  Folder f;
  const std::string script = f.file("product.py", kProduct), trace = f.file("p.uoptrace");
  REQUIRE(call(f, {"record", script, "-o", trace, "-q"}).code == 0);
  const Json all = Json::parse(call(f, {"story", trace, "--json"}).out);
  REQUIRE(all.size() == 2);
  const std::string number = std::to_string(all[1]["number"].get<int>());
  const Json passes = Json::parse(call(f, {"ls", trace, number, "--json"}).out);
  for (const Json& kernel : all) {
    CHECK(kernel["chapters"].size() >= 8);
    CHECK(kernel["chapters"].size() <= 12);
    for (const Json& c : kernel["chapters"]) CHECK(!c["sentences"].empty());
  }
  const Result text = call(f, {"story", trace, number});
  REQUIRE(text.code == 0);
  for (const auto& p : passes) CHECK_MESSAGE(contains(text.out, p["name"].get<std::string>()), p["name"]);
  for (const char* part : {"4. Choices", "decided: ", "REDUCE is gone", "line 4", "__attribute__"})
    CHECK_MESSAGE(contains(text.out, part), part);
  CHECK(call(f, {"story", trace, "nothing"}).code == 2);
  CHECK(call(f, {"story", trace, "-o", "x.pdf"}).code == 2);
}

TEST_CASE("what-if compiles variants aside and compares them") {
  Folder f;
  const std::string script = f.file("product.py", kProduct);
  const Result r = call(f, {"whatif", script, "--opts", "none", "--opts", "UPCAST 1 4", "--without",
                            "mul-zero", "--repeats", "3", "--json"});
  REQUIRE(r.code == 1); // the first kernel has no second axis
  const Json out = Json::parse(r.out);
  REQUIRE(out["kernels"].size() == 2);
  const Json& product = out["kernels"][1];
  REQUIRE(product["variants"].size() == 3);
  CHECK(product["base"]["instructions"].get<int>() > 10);
  for (const Json& v : product["variants"]) {
    CHECK(v["problem"] == "");
    CHECK(v["wrong"] == false);
    CHECK(v["seconds"].get<double>() > 0);
    CHECK(v["low"].get<double>() <= v["ratio"].get<double>() * 1.0001);
  }
  CHECK(product["variants"][0]["name"] == "without mul-zero");
  CHECK(product["variants"][1]["source"] != product["base"]["source"]); // without Opts
  CHECK(product["variants"][2]["difference"].get<std::string>().find("UPCAST") != std::string::npos);
  // Opts that do not fit fill a row with a message; the verb goes on.
  const Result bad = call(f, {"whatif", script, "--opts", "UPCAST 0 7", "--no-times"});
  CHECK(bad.code == 1);
  CHECK(contains(bad.out, "does not compile"));
  CHECK(call(f, {"whatif", script, "--opts", "SIDEWAYS 1 2"}).code == 2);
  // The same Opts, as Python prints them.
  const Result printed = call(
      f, {"whatif", script, "--opts", "UPCAST 1 4; UNROLL 0 4", "--opts",
          R"opts(["Opt(op=OptOps.UPCAST, axis=1, arg=4)","Opt(op=OptOps.UNROLL, axis=0, arg=(4,))"])opts",
          "--no-times", "--json"});
  const Json both = Json::parse(printed.out)["kernels"][1]["variants"];
  CHECK(both[0]["problem"] == "");
  CHECK(both[1]["source"] == both[0]["source"]);
  for (const char* wrong : {"Opt(op=OptOps.SIDEWAYS, axis=1)", "Opt(op=OptOps.UPCAST, axis=1, arg=4) or so"})
    CHECK(call(f, {"whatif", script, "--opts", wrong}).code == 2);
  const Result rule = call(f, {"whatif", script, "--without", "mul-zro"});
  CHECK(rule.code == 2);
  CHECK(contains(rule.err, "mul-zero"));
  // A rule whose matcher this process has not made yet.
  CHECK(call(f, {"whatif", script, "--without", "read-from-panel", "--no-times"}).code == 0);
  CHECK(call(f, {"whatif", script}).code == 2);
  CHECK(call(f, {"whatif", "nowhere.py", "--opts", "none"}).code == 2);
}

TEST_CASE("what-if of a step: its rewrite, its Opt, or an alternative of its decision") {
  Folder f;
  const std::string script = f.file("tile.py", R"(from tinygrad import Tensor, Context
with Context(CPU_TARGET=3, CPU_COUNT=1):
  a, b = Tensor.ones(64, 48).contiguous().realize(), Tensor.ones(48, 256).contiguous().realize()
  (a @ b).realize()
)");
  const std::string trace = f.file("tile.uoptrace");
  REQUIRE(call(f, {"record", script, "-o", trace}).code == 0);
  auto first = [&](const std::string& sql) {
    const Result r = call(f, {"query", trace, sql, "--json"});
    REQUIRE(r.code == 0);
    const Json rows = Json::parse(r.out);
    REQUIRE(!rows.empty());
    return rows[0];
  };
  const Json tile =
      first("SELECT step, scope FROM v_decision WHERE others IS NOT NULL AND reason LIKE 'UPCAST%'");
  const std::string step = tile["step"].dump(), scope = tile["scope"].dump();
  const Json small =
      first("SELECT min(step.id) AS id FROM step JOIN pass ON pass.id = step.pass JOIN rule ON rule.id = "
            "step.rule WHERE pass.scope = " +
            scope +
            " AND rule.name = 'flatten-sum'"
            " UNION SELECT min(step.id) FROM step JOIN pass ON pass.id = step.pass WHERE pass.scope = " +
            scope + " ORDER BY 1 DESC");
  const Result r = call(f, {"whatif", trace, "--alternative", step + ":1", "--without-step", step,
                            "--without-step", small["id"].dump(), "--no-times", "--json"});
  CAPTURE(r.err);
  const Json out = Json::parse(r.out);
  REQUIRE(out["kernels"].size() == 1);
  const Json& variants = out["kernels"][0]["variants"];
  REQUIRE(variants.size() == 3);
  for (const Json& v : variants) {
    CAPTURE(v.dump());
    const std::string name = v["name"];
    if (contains(name, " of r")) { // the alternative
      CHECK(v["problem"] == "");
      CHECK(v["same_code"] == false);
      CHECK(v["opts"] != out["kernels"][0]["base"]["opts"]);
    } else if (contains(name, "UPCAST")) {
      CHECK(v["same_code"] == false);
    } else {
      CHECK(contains(name, "without step"));
      CHECK(!v["difference"].get<std::string>().empty());
    }
    CHECK(v["registers"].get<int>() <= 32);
  }
  CHECK(out["kernels"][0]["base"]["registers"].get<int>() > 0);
  CHECK(call(f, {"whatif", trace, "--alternative", step + ":99", "--no-times"}).code == 2);
  CHECK(call(f, {"whatif", trace, "--alternative", "many", "--no-times"}).code == 2);
  CHECK(call(f, {"whatif", trace, "--without-step", "99999999", "--no-times"}).code == 2);
  const Result other = call(f, {"whatif", script, "--without-step", step, "--no-times"});
  CHECK(other.code == 2);
  CHECK(contains(other.err, "uoptrace"));
}

TEST_CASE("what-if by hand: the matches at a step, those after a choice, and the variant") {
  Folder f;
  const std::string script = f.file("product.py", kProduct), trace = f.file("p.uoptrace");
  REQUIRE(call(f, {"record", script, "-o", trace, "-q"}).code == 0);
  const Json kernels = Json::parse(call(f, {"story", trace, "--json"}).out);
  const std::string step =
      "kernel=" + std::to_string(kernels[1]["number"].get<int>()) + "&pass=expander&step=1";
  const Result list = call(f, {"whatif", trace, "--by-hand", step});
  CAPTURE(list.err);
  REQUIRE(list.code == 0);
  CHECK(contains(list.out, "\"expander\", step 1: "));
  const Json here = Json::parse(call(f, {"whatif", trace, "--by-hand", step, "--json"}).out)["by_hand"][0];
  REQUIRE(!here["matches"].empty());
  CHECK(here["count"] == here["matches"].size());
  CHECK(!here["graph"]["nodes"].empty());
  CHECK(!here["matches"][0]["picture"]["nodes"].empty());
  const std::string choice = step + ":" + here["matches"][0]["name"].get<std::string>();
  const Json after =
      Json::parse(call(f, {"whatif", trace, "--by-hand", choice, "--matches", "--json"}).out)["by_hand"][0];
  CHECK(after["chosen"].size() == 1);
  CHECK(after["chosen"][0]["name"] == here["matches"][0]["name"]);
  const Result made = call(f, {"whatif", trace, "--by-hand", choice, "--no-times", "--json"});
  CAPTURE(made.err);
  const Json variant = Json::parse(made.out)["kernels"][0]["variants"][0];
  CHECK(contains(variant["name"].get<std::string>(), "by hand: "));
  CHECK(call(f, {"whatif", trace, "--by-hand", step + ":no-rule"}).code == 2);
  CHECK(call(f, {"whatif", trace, "--by-hand", "nowhere"}).code == 2);
  CHECK(call(f, {"whatif", trace, "--matches"}).code == 2);
  CHECK(call(f, {"whatif", script, "--by-hand", step}).code == 2);
}

TEST_CASE("what-if: a variant is kept under a name, listed, compiled again and forgotten") {
  Folder f;
  const std::string script = f.file("product.py", kProduct), trace = f.file("p.uoptrace");
  REQUIRE(call(f, {"record", script, "-o", trace, "-q"}).code == 0);
  const Json kernels = Json::parse(call(f, {"story", trace, "--json"}).out);
  const std::string kernel = std::to_string(kernels[1]["number"].get<int>());
  const Result made =
      call(f, {"whatif", trace, "--kernel", kernel, "--opts", "none", "--name", "plain loops", "--no-times"});
  CAPTURE(made.err);
  REQUIRE(made.code == 0);
  const Result list = call(f, {"whatif", trace, "--variants"});
  CHECK(list.out == "plain loops  kernel " + kernel + "  --opts \"none\"\n");
  const Json again =
      Json::parse(call(f, {"whatif", trace, "--variant", "plain loops", "--no-times", "--json"}).out);
  CHECK(again["kernels"][0]["variants"][0]["name"] == "plain loops");
  CHECK(again["kernels"][0]["variants"][0]["same_code"] == false);
  CHECK(call(f, {"whatif", trace, "--opts", "none", "--name", "x", "--no-times"}).code == 2); // of no kernel
  CHECK(call(f, {"whatif", trace, "--kernel", kernel, "--opts", "none", "--opts", "UPCAST 0 4", "--name", "x",
                 "--no-times"})
            .code == 2);
  CHECK(call(f, {"whatif", script, "--opts", "none", "--name", "x", "--no-times"}).code == 2);
  CHECK(contains(call(f, {"whatif", trace, "--variant", "nobody", "--no-times"}).err, "plain loops"));
  CHECK(call(f, {"whatif", trace, "--forget", "plain loops"}).code == 0);
  CHECK(call(f, {"whatif", trace, "--variants"}).out.empty());
  CHECK(call(f, {"whatif", trace, "--forget", "plain loops"}).code == 2);
}

TEST_CASE("bisect finds the rewrite that makes a script fail, a script's own rule") {
  Folder f;
  const std::string script = f.file("wrong.py", R"(from tinygrad import Tensor
from tinygrad.codegen import rules_after
from tinygrad.uop.ops import UPat, PatternMatcher
x, c = UPat.var("x"), UPat.cvar("c")
def right(x): return x * 2
def wrong(x, c): return x + 8 if c.arg == 7 else None
with rules_after("initial symbolic", PatternMatcher([(x + x, right), (x + c, wrong)])):
  assert (Tensor([1, 2, 3]).realize() * 3 + 7).tolist() == [10, 13, 16]
)");
  const Result r = call(f, {"bisect", script, "--json"});
  CHECK(r.code == 1);
  const Json out = Json::parse(r.out);
  CHECK(out["found"] == true);
  CHECK(out["rule"] == "wrong");
  CHECK(contains(out["at"].get<std::string>(), "wrong.py"));
  CHECK(call(f, {"run", script}, "UOPSCOPE_WITHOUT=wrong").code == 0);
  CHECK(call(f, {"run", script}).code == 1);
  const std::string right = f.file("right.py", "from tinygrad import Tensor\nTensor([1]).realize()\n");
  const Result none = call(f, {"bisect", right});
  CHECK(none.code == 0);
  CHECK(contains(none.out, "nothing to find"));
  const std::string broken =
      f.file("broken.py", "from tinygrad import Tensor\n(Tensor([1]) + 1).tolist()\nraise SystemExit(3)\n");
  CHECK(contains(call(f, {"bisect", broken}).out, "fails without any optional rewrite"));
  CHECK(call(f, {"run", right}, "UOPSCOPE_FUEL=many").code == 2);
}

TEST_CASE("rewriting that a script asks for itself is no kernel, and each verb of the laboratory says so") {
  Folder f;
  const std::string script =
      f.file("own.py", R"(from tinygrad.uop.ops import UOp, UPat, PatternMatcher, graph_rewrite
from tinygrad.dtype import dtypes
i = UOp.variable("i", 0, 63, dtypes.int)
graph_rewrite(i * 1, PatternMatcher([(UPat.var("x") * 1, lambda x: x)]), name="my algebra")
)");
  const std::string trace = f.file("own.uoptrace");
  REQUIRE(call(f, {"record", script, "-o", trace, "-q"}).code == 0);
  for (const std::vector<std::string>& verb :
       {std::vector<std::string>{"bisect", trace, "--kernel", "1", "--line", "x"},
        {"whatif", trace, "--kernel", "1", "--without", "mul-one", "--no-times"},
        {"values", trace, "1"},
        {"whatif", trace, "--by-hand", "1"}}) {
    const Result told = call(f, verb);
    CAPTURE(verb[0]);
    CAPTURE(told.err);
    CHECK(told.code == 2);
    CHECK(contains(told.err, "is no kernel"));
  }
  CHECK(contains(call(f, {"story", trace, "1"}).out, "my algebra"));
}

TEST_CASE("the lesson in a session folds its answers, and the teacher's part stays out") {
  Folder f;
  const std::string page = f.file("s.html"),
                    lesson = f.file(
                        "l.md",
                        "# A lesson\n\n```question\nask: How many\n  kernels?\nanswer: 3\nanswer: three\n"
                        "wrong: 4\nhint: count `them`\nbecause: One for each.\n```\n\nGo on.\n\n"
                        "## For the teacher\nsecret\n");
  REQUIRE(call(f, {"export", sampleTrace(f), "--what", "session", "--lesson", lesson, "-o", page}).code == 0);
  const std::string html = textOf(page);
  CHECK(contains(html, "<strong>Question.</strong> How many kernels?"));
  CHECK(contains(html, "<details><summary>Hint</summary><p>count <code>them</code></p></details>"));
  CHECK(contains(html, "<details><summary>Answer</summary><p>3 or three. One for each.</p></details>"));
  CHECK(contains(html, "Go on."));
  CHECK_FALSE(contains(html, "wrong: 4"));
  CHECK_FALSE(contains(html, "secret"));
}

TEST_CASE("bookmarks beside a trace are the talk of its session") {
  Folder f;
  const std::string trace = sampleTrace(f), page = f.file("s.html");
  std::ofstream(trace + ".notes.json")
      << R"JSON([{"link": "kernel=r_4&pass=1&step=2&tab=graph", "note": "here [it] splits", "place": ""},
    {"link": "kernel=r_4&pass=2&step=0", "note": "", "place": "r_4, pass 2"}, {"link": "(bad)"}, 7])JSON";
  REQUIRE(call(f, {"export", trace, "--what", "session", "-o", page}).code == 0);
  const std::string html = textOf(page);
  CHECK(contains(html, "<h2>Talk</h2>"));
  CHECK(contains(html, "<a href=\"#kernel=r_4&amp;pass=1&amp;step=2\">here  it  splits</a>"));
  CHECK(contains(html, "\">r_4, pass 2</a>"));
}

namespace {

/// What `actions` add to `seen` on a page in a browser, which shows it at `place`; nothing where no browser runs here.
std::vector<std::string> playedOn(const Folder& f, const std::string& page, const std::string& place,
                                  const std::string& actions) {
  if (std::system("command -v chromium >/dev/null 2>&1") != 0) {
    MESSAGE("skipped: no chromium");
    return {};
  }
  std::string html = textOf(page);
  html.insert(html.rfind("</body>"),
              "<script>const seen = [];" + actions + "document.title = seen.join(';');</script>");
  const std::string driven = f.file("driven.html", html), dom = f.file("dom");
  const std::string command =
      "timeout 200 chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=3000 --dump-dom " +
      shell("file://" + driven + place) + " >" + shell(dom) + " 2>/dev/null </dev/null";
  if (std::system(command.c_str()) != 0) {
    MESSAGE("skipped: chromium does not run here");
    return {};
  }
  const std::string after = textOf(dom);
  CHECK(contains(after, "<svg"));
  const size_t from = after.find("<title>") + 7;
  const std::string title = after.substr(from, after.find("</title>") - from);
  std::vector<std::string> seen;
  std::istringstream parts(title);
  for (std::string part; std::getline(parts, part, ';');) seen.push_back(part);
  return seen;
}

} // namespace

TEST_CASE("browsers step through a session: slider, keys, tabs, wide and narrow, light and dark") {
  Folder f;
  const std::string script = f.file("product.py", kProduct), trace = f.file("p.uoptrace");
  const std::string page = f.file("s.html");
  const std::string lesson =
      f.file("lesson.md", "# Look\nThe product begins with [this step](kernel=2&pass=1&step=1).\n");
  REQUIRE(call(f, {"record", script, "-o", trace, "-q"}).code == 0);
  REQUIRE(call(f, {"export", trace, "--what", "session", "--lesson", lesson, "-o", page}).code == 0);
  const std::string told = f.file("told"), failed = f.file("failed");
  const int code =
      WEXITSTATUS(std::system(("timeout 200 python3 " UOPSCOPE_SOURCE_DIR "/tests/laboratory/browsers " +
                               shell(page) + " >" + shell(told) + " 2>" + shell(failed))
                                  .c_str()));
  const std::string problem = textOf(failed);
  if (contains(problem, "apt install") || contains(problem, "ended")) {
    MESSAGE("skipped: " << problem);
    return;
  }
  CAPTURE(problem);
  CHECK(code == 0);
  CHECK(contains(textOf(told), "| s |"));
}

TEST_CASE("a session opens at the rewrite worth a look, and has room for its kernel first") {
  Folder f;
  const std::string script = f.file("product.py", kProduct), trace = f.file("p.uoptrace"),
                    page = f.file("s.html");
  REQUIRE(call(f, {"record", script, "-o", trace, "-q"}).code == 0);
  REQUIRE(call(f, {"export", trace, "--what", "session", "-o", page}).code == 0);
  Trace read(trace);
  const ScopeId kernel = fullestScope(read);
  const auto at = openingOf(read, kernel);
  REQUIRE(at);
  const auto passes = read.passes(kernel);
  const auto number = std::ranges::find(passes, at->pass, &PassInfo::id) - passes.begin() + 1;
  CHECK(dataOf(textOf(page))["opening"] == "kernel=" + std::to_string(kernel) +
                                               "&pass=" + std::to_string(number) +
                                               "&step=" + std::to_string(at->step.k));
  // Where little fits, that kernel is what is there.
  REQUIRE(call(f, {"export", trace, "--what", "session", "--megabytes", "1", "-o", page}).code == 0);
  const Json data = dataOf(textOf(page));
  CHECK(std::ranges::any_of(data["scopes"], [&](const Json& s) { return s["id"] == kernel; }));
  CHECK(data["opening"].get<std::string>().starts_with("kernel=" + std::to_string(kernel)));
}

TEST_CASE("a session shows something of what each step changes, where a link leads too") {
  Folder f;
  const std::string trace = f.file("t.uoptrace"), page = f.file("s.html");
  REQUIRE(call(f, {"record", "-q", f.file("product.py", kProduct), "-o", trace}).code == 0);
  REQUIRE(call(f, {"export", trace, "--what", "session", "-o", page}).code == 0);
  CHECK_FALSE(contains(textOf(page), "\xef\xbf\xbd")); // no text is cut within a letter
  // Links to every step; the canvas is too small for any graph.
  const std::vector<std::string> seen = playedOn(f, page, "", R"(
    const canvas = document.getElementById("canvas"), data = JSON.parse(document.getElementById("data").textContent);
    canvas.style.cssText = "position: fixed; left: 0; top: 0; width: 300px; height: 200px";
    let changed = 0, hidden = [];
    for (const scope of data.scopes) for (const pass of scope.passes) for (let k = 1; pass.rows && k <= pass.rows.length && k < 12; ++k) {
      location.hash = "kernel=" + scope.id + "&pass=" + pass.no + "&step=" + k;
      dispatchEvent(new Event("hashchange"));
      const of = marks => [...canvas.querySelectorAll(marks)].map(b => b.querySelector("rect").getBoundingClientRect());
      let marked = of(".box.m1, .box.m2");
      if (!marked.length) marked = of(".box.m3").sort((a, b) => a.top - b.top).slice(0, 1); // what reads the change
      if (!marked.length) continue;
      ++changed;
      if (!marked.some(r => r.right > 0 && r.left < 300 && r.bottom > 0 && r.top < 200)) hidden.push(location.hash.replaceAll('&', ' '));
    }
    seen.push(changed, hidden.length + " out of sight " + hidden.slice(0, 3).join(" "));)");
  if (seen.empty()) return;
  REQUIRE(seen.size() == 2);
  CHECK(std::stoi(seen[0]) > 50);
  CHECK(seen[1] == "0 out of sight ");
}
