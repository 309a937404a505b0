// Each lesson from beginning to end, with its commands, expectations and answers; and the forbidden commands
// of a lesson.
#include "engine/base/error.h"
#include "replay/teach/formula.h"
#include "replay/teach/lesson.h"
#include "replay/teach/marking.h"
#include "tests/app/cli/support.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::test;

namespace {

const std::string kLessons = std::string(UOPSCOPE_SOURCE_DIR) + "/docs/lessons/";

void walk(const std::string& name) {
  Folder f;
  Result r = call(f, {"lesson", kLessons + name, "--answers"});
  INFO(r.out);
  INFO(r.err);
  CHECK(r.code == 0);
  CHECK(contains(r.out, "all as written"));
}

} // namespace

TEST_CASE("lesson 1: from a + b to a kernel") {
  walk("1-a-plus-b.md");
}
TEST_CASE("lesson 2: a tiled matrix product") {
  walk("2-tiled-matrix-product.md");
}
TEST_CASE("lesson 3: softmax, fused") {
  walk("3-fused-softmax.md");
}
TEST_CASE("lesson 4: a rule of your own") {
  walk("4-a-rule-of-your-own.md");
}
TEST_CASE("lesson 5: find the wrong rule") {
  walk("5-find-the-wrong-rule.md");
}
TEST_CASE("lesson 6: read a GPU kernel") {
  walk("6-read-a-gpu-kernel.md");
}

TEST_CASE("a student is taken through a lesson and goes on where he stopped") {
  Folder f;
  const std::string lesson =
      f.file("small.md",
             "# Small\n\n```question\nask: i*1 by mul-one?\nrule: mul-one\non: i*1\nanswer: i\n"
             "hint: One changes nothing.\n```\n\nNow another.\n\n```question\nask: Two?\nanswer: 2\n```\n");
  const std::string answers = f.file("answers", "i+1\nh\ni\nq\n"), more = f.file("more", "two\n");
  const std::string home = "XDG_DATA_HOME=" + shell(f.path);
  auto take = [&](const std::string& input) {
    const std::string out = f.file("out");
    std::system(
        (home + " " + shell(kProgram) + " lesson " + shell(lesson) + " <" + shell(input) + " >" + shell(out))
            .c_str());
    return textOf(out);
  };
  const std::string first = take(answers), second = take(more);
  CHECK(contains(first, "Another value"));
  CHECK(contains(first, "One changes nothing."));
  CHECK(contains(first, "Right."));
  CHECK(contains(first, "The place is kept"));
  CHECK(!contains(second, "i*1 by mul-one?"));
  CHECK(contains(second, "Done: 2 of 2 questions right, 1 at the first try, 1 hint."));
}

TEST_CASE("a lesson runs nothing but this program, in its own folder") {
  for (const char* command : {"rm -rf x", "uopscope lesson x", "uopscope record /tmp/x.py",
                              "uopscope export t -o ../x.svg", "uopscope"})
    CHECK_THROWS_AS(parseLesson(std::string("# T\n```run\n") + command + "\n```\n"), Error);
  CHECK_THROWS_AS(parseLesson("# T\n```file ../x.py\n```\n"), Error);
  CHECK_THROWS_WITH_AS(parseLesson("# T\n\n```question\nask: x\n```\n"),
                       "line 4 of the lesson: a question needs an answer (answer: ...), for its test where "
                       "the engine marks it",
                       Error);
  CHECK_THROWS_AS(parseLesson("# T\n```question\nask: x\nanswer: 1\ncolour: red\n```\n"), Error);
  CHECK_THROWS_AS(parseLesson("# T\n```run\nuopscope ls t\n"), Error);
  CHECK_THROWS_AS(parseLesson("no title"), Error);
  const Lesson l =
      parseLesson("# T\nTime: 20 minutes\ntext\n```py\n## For the teacher\n```\n## For the teacher\nnotes\n");
  CHECK(l.minutes == "20");
  CHECK(l.teacher == "notes\n");
  CHECK(commandWords("a 'b c' \"d\" ''") == std::vector<std::string>{"a", "b c", "d", ""});
}

TEST_CASE("formulas are compared in one form") {
  auto same = [](const char* a, const char* b) {
    return Formula::parse(a).canonical() == Formula::parse(b).canonical();
  };
  CHECK(same("4*i + j", "(j+(i*4))"));
  CHECK(same("a-b", "-b+a"));
  CHECK(same("a > b", "b<a"));
  CHECK(same("max(x, y)", "max(y,x)"));
  CHECK(same("data0[(L0*8)]", "data0[ 8*L0 ]"));
  CHECK(same("1.50", "1.5"));
  CHECK_FALSE(same("a-b", "b-a"));
  CHECK_FALSE(same("i*4+j", "i+j*4"));
  CHECK_FALSE(same("(a+b)*c", "a+b*c"));
  CHECK(Formula::parse("i*2").sameValueAs(Formula::parse("i+i")) == std::optional(true));
  CHECK(Formula::parse("i*2").sameValueAs(Formula::parse("i*3")) == std::optional(false));
  CHECK(Formula::parse("-7//2").sameValueAs(Formula::parse("-4")) == std::optional(true));
  CHECK_FALSE(Formula::parse("LOAD(x)").sameValueAs(Formula::parse("x")).has_value());
  for (const char* bad : {"", "a+", "(a", "a b", "a[", "1 2", "$", "f(a,"})
    CHECK_THROWS_AS(Formula::parse(bad), Error);
  CHECK_THROWS_AS(Formula::parse(std::string(100'000, '(')), Error);
}

TEST_CASE("answers are marked by the engine") {
  Question rule;
  rule.ask = "?", rule.answers = {"i"}, rule.rule = "add-zero", rule.on = "i + 0";
  CHECK(markAnswer(rule, " i ", "").right);
  CHECK_FALSE(markAnswer(rule, "0", "").right);
  CHECK_FALSE(markAnswer(rule, "nothing", "").right);
  CHECK(contains(markAnswer(rule, "i*1", "").message, "Equal in value"));
  rule.on = "i + j";
  CHECK(markAnswer(rule, "nothing", "").right);
  rule.rule = "no-such-rule";
  CHECK_THROWS_AS(markAnswer(rule, "i", ""), Error);
  Folder f;
  Question trace;
  trace.ask = "?", trace.answers = {"1"}, trace.query = "SELECT count(*) FROM v_kernel";
  const std::string path = sampleTrace(f);
  CHECK(markAnswer(trace, "one", path).right);
  CHECK_FALSE(markAnswer(trace, "2", path).right);
  trace.query = "DELETE FROM scope";
  CHECK_THROWS_AS(markAnswer(trace, "1", path), Error);
}
