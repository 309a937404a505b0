// The causes of changes over a small history of rules: each kind of change gets its own name, and a pure
// refactoring shows no change.
#include "replay/compare/bisect.h"
#include "replay/compare/report.h"
#include "tests/replay/compare/history.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

using namespace uopscope;
using namespace uopscope::test;

TEST_CASE("a refactor changes nothing") {
  TempCorpus before(commits::of(commits::kFirst)), after(commits::of(commits::kRefactored));
  CorpusDiff d = diffOf(before, after);
  CHECK_FALSE(d.anyChange());
  CHECK(d.same == 12);
  CHECK(d.groups.empty());
  CHECK(headline(d) == "nothing changed (12 compilations compared)");
}

TEST_CASE("a rule that was switched off is the cause, and only of the kernels it had a part in") {
  TempCorpus before(commits::of(commits::kFirst)), after(commits::of(commits::kOff));
  CorpusDiff d = diffOf(before, after);
  CHECK(d.changed == 8);
  CHECK(d.same == 4);
  REQUIRE(d.groups.size() == 1);
  CHECK(d.groups[0].cause == "rule 'mul-one' no longer applies");
  const Divergence& v = d.changes[d.groups[0].changes[0]].divergence;
  CHECK(v.kind == Divergence::Kind::RuleRemoved);
  CHECK(v.pass == "initial symbolic");
  CHECK(v.beforeRule == "mul-one");
  CHECK(v.node == "((L0+1)*1)");
  CHECK(v.beforeResult == "(L0+1)");
  CHECK(v.afterResult.empty());
  // in the opposite direction it is new
  CHECK(diffOf(after, before).groups[0].cause == "rule 'mul-one' applies where it did not");
}

TEST_CASE("settings that changed nothing are no change, and else they are named in the cause") {
  const Commit all = commits::of(commits::kFirst);
  TempCorpus before(all, 12, R"({"NOOPT":0})"), after(all, 12, R"({"NOOPT":1})");
  CorpusDiff d = diffOf(before, after);
  CHECK(d.changed == 0);
  CHECK(d.same == 12);
  REQUIRE(d.warnings.size() == 1);
  CHECK(d.warnings[0] == "settings differ: NOOPT 0 to 1 (12 compilations)");
  TempCorpus other(commits::of(commits::kOff), 12, R"({"NOOPT":1})");
  d = diffOf(before, other);
  CHECK(d.same == 4);
  REQUIRE(d.groups.size() == 1);
  CHECK(d.groups[0].cause == "NOOPT 0 to 1: rule 'mul-one' no longer applies");
}

TEST_CASE("a rule made wrong gives another result") {
  TempCorpus before(commits::of(commits::kFirst)), after(commits::of(commits::kWrong));
  CorpusDiff d = diffOf(before, after);
  CHECK(d.changed == 6);
  REQUIRE(d.groups.size() == 1);
  CHECK(d.groups[0].cause == "rule 'twice' gives another result");
  const Divergence& v = d.changes[d.groups[0].changes[0]].divergence;
  CHECK(v.beforeResult == "(L1*2)");
  CHECK(v.afterResult == "(L1*3)");
}

TEST_CASE("rules in another order: the one that now comes first is named") {
  TempCorpus before(commits::of(commits::kFirst)), after(commits::of(commits::kReordered));
  CorpusDiff d = diffOf(before, after);
  REQUIRE(d.groups.size() == 1);
  CHECK(d.groups[0].cause == "rule 'twice' applies in place of 'fold'");
  CHECK(d.changed == 12);
}

TEST_CASE("a renamed rule is no change, and is told of") {
  TempCorpus before(commits::of(commits::kFirst)), after(commits::of(commits::kRenamed));
  CorpusDiff d = diffOf(before, after);
  CHECK_FALSE(d.anyChange());
  CHECK(d.renamedRules == std::map<std::string, std::string>{{"mul-one", "times-one"}});
  REQUIRE(d.rules.size() == 1);
  CHECK(d.rules[0].what == "renamed");
}

TEST_CASE("a rule that never gets a chance changes nothing but the statistics") {
  TempCorpus before(commits::of(commits::kFirst)), after(commits::of(commits::kMore));
  CorpusDiff d = diffOf(before, after);
  CHECK_FALSE(d.anyChange());
  REQUIRE(d.rules.size() == 1);
  CHECK(d.rules[0].rule == "alike");
  CHECK(d.rules[0].what == "new");
}

TEST_CASE("a heuristic between passes is told apart from the rules") {
  TempCorpus before(commits::of(commits::kFirst)), after(commits::of(commits::kFirst, true));
  CorpusDiff d = diffOf(before, after);
  REQUIRE(d.groups.size() == 1);
  CHECK(d.groups[0].cause == "code before pass 'devectorize' makes another graph");
  CHECK(d.changed == 12);
}

TEST_CASE("several causes are grouped, biggest first, and every kernel is listed") {
  TempCorpus before(commits::of(commits::kFirst));
  static constexpr RuleDef both[] = {commits::kZero, commits::kFold, commits::kWrongTwice};
  TempCorpus after(commits::of(both));
  CorpusDiff d = diffOf(before, after);
  REQUIRE(d.groups.size() == 2);
  CHECK(d.groups[0].changes.size() >= d.groups[1].changes.size());
  CHECK(d.groups[0].changes.size() + d.groups[1].changes.size() == d.changed);
}

TEST_CASE("kernels of other inputs are paired by line and likeness, with the confidence said") {
  TempCorpus before(commits::of(commits::kFirst)), after(commits::of(commits::kFirst));
  {
    std::filesystem::remove(after.path);
    Corpus c = Corpus::create(after.path);
    for (Compilation input : historyInputs()) {
      Pool pool;
      PoolScope scope(pool);
      UOp root = graphFromText(input.graph);
      if (input.name == "k3") root = UOp::sink(std::vector<UOp>{root.src(0) + UOp::range(4, 9)});
      input.graph = graphToText(root);
      if (input.name == "k5") continue;
      c.add(compileAs(commits::of(commits::kFirst), input));
    }
    c.finish();
  }
  CorpusDiff d = diffOf(before, after);
  CHECK(d.same == 10);
  CHECK(d.removed == 1);
  CHECK(d.changed == 1);
  for (const Change& c : d.changes)
    if (c.status == Change::Status::Changed) {
      CHECK(c.entry().name == "k3");
      CHECK(c.confidence > 0.5);
      CHECK(c.confidence < 1);
      CHECK(c.divergence.kind == Divergence::Kind::InputDiffers);
    }
}

TEST_CASE("reports in every form name the cause, the place and both results") {
  TempCorpus before(commits::of(commits::kFirst)), after(commits::of(commits::kWrong));
  Corpus a = Corpus::open(before.path), b = Corpus::open(after.path);
  CorpusDiff d = diffCorpora(a, b, {});
  for (const std::string& text : {reportText(d, a, b, {.diffs = true}), reportMarkdown(d, a, b, {}),
                                  reportHtml(d, a, b, {}), reportJson(d, a, b, {})}) {
    CHECK(text.find("6 compilations changed for 1 cause") != std::string::npos);
    CHECK(text.find("initial symbolic") != std::string::npos);
    CHECK(text.find("(L1*3)") != std::string::npos);
    CHECK(text.find("model.py") != std::string::npos);
  }
  auto j = nlohmann::json::parse(reportJson(d, a, b, {}));
  CHECK(j["causes"][0]["changes"][0]["divergence"]["kind"] == "result-differs");
  CHECK(reportText(d, a, b, {.limit = 2}).find("and 4 more") != std::string::npos);
  CHECK(reportHtml(d, a, b, {}).find("<script src") == std::string::npos);
}

TEST_CASE("fuel finds the rewrite after which a kernel is bad") {
  // This test's own judgement: a kernel is bad once it holds 2*(i+2) as one constant.
  Compilation input = historyInputs()[3];
  auto judge = [&](const Compilation& c, Observer& gate) {
    Compilation made = compileAs(commits::of(commits::kFirst), c, nullptr, &gate);
    return made.source.find("10") != std::string::npos;
  };
  FuelGate every(1000);
  Compilation all = compileAs(commits::of(commits::kFirst), input, nullptr, &every);
  CHECK(all.source.find("10") != std::string::npos);
  CHECK(every.used() == 0); // rules of tests are never optional
  RewriteCulprit c = bisectRewrites(input, BisectFor::Wrong, {.timeoutSeconds = 10, .judge = judge});
  CHECK_FALSE(c.found);
  CHECK(c.sentence.find("without any rewrite that can be left out") != std::string::npos);
}
