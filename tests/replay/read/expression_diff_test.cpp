// Expression differences: changed operands are marked whole, kept ones stay whole.
#include "replay/read/expression_diff.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>

using namespace uopscope;

namespace {

/// "a [b] c": marked words stand in square brackets.
std::string shown(const std::vector<DiffWord>& words) {
  std::string s;
  for (const DiffWord& w : words) s += w.changed ? "[" + std::string(w.text) + "]" : std::string(w.text);
  return s;
}
std::string both(std::string_view before, std::string_view after) {
  const DiffWords d = expressionDiff(before, after);
  return shown(d.before) + " | " + shown(d.after);
}

} // namespace

TEST_CASE("expression diff: only the operand that changed is marked") {
  CHECK(both("((L0*4)+u1)", "((L0*4)+0)") == "((L0*4)+[u1]) | ((L0*4)+[0])");
  CHECK(both("(a+(b*c))", "(a+(b*d))") == "(a+(b*[c])) | (a+(b*[d]))");
  CHECK(both("same", "same") == "same | same");
  CHECK(both("(x+0)", "(x+0)") == "(x+0) | (x+0)");
}

TEST_CASE("expression diff: what is wrapped or unwrapped is kept whole") {
  CHECK(both("R1", "((R1*25)+r2)") == "R1 | [((]R1[*25)+r2)]");
  CHECK(both("((r0*4)+0)", "(r0*4)") == "[(](r0*4)[+0)] | (r0*4)");
}

TEST_CASE("expression diff: what was wrapped is the same where more or less of it is left out") {
  CHECK(
      both("SINK(COPY(EXPAND(RESHAPE(BUFFER, (1, 2)), (3, 2))))", "SINK(STAGE(COPY(EXPAND(..., (3, 2)))))") ==
      "SINK(COPY(EXPAND(RESHAPE(BUFFER, (1, 2)), (3, 2)))) | SINK[(STAGE](COPY(EXPAND(..., (3, 2))))[)]");
  CHECK(both("f((a*...)+b)", "f((...*c)+b)") == "f((a*...)+b) | f((...*c)+b)");
  CHECK(both("f(...)", "g(h)") == "[f](...) | [g](h)"); // parts are left out on both sides
}

TEST_CASE("expression diff: signs that happen to be in both keep nothing alive") {
  CHECK(both("(2*32)", "64") == "[(2*32)] | [64]");
  CHECK(both("((a*b)+c)", "((d*e)+f)") == "[((a*b)+c)] | [((d*e)+f)]");
}

TEST_CASE("expression diff: moved and unbalanced texts are told without harm") {
  CHECK(both("(a+b)", "(b+a)").find('b') != std::string::npos);
  CHECK(both("((a", "((a") == "((a | ((a");
  CHECK(both(")a(", "a") == "[)]a[(] | a");
  CHECK(both("", "a") == " | [a]");
  const std::string deep(5000, '(');
  CHECK(shown(expressionDiff(deep, deep + "x").before).size() >= deep.size());
}

TEST_CASE("expression diff: long texts take time that grows with their length") {
  auto sum = [](int terms, const char* factor) { // (r0*f)+(r1*f)+...
    std::string s;
    for (int i = 0; i < terms; ++i) s += "(r" + std::to_string(i) + "*" + factor + ")+";
    return s + "0";
  };
  auto seconds = [&](int terms) {
    double least = 1e9;
    const std::string before = sum(terms, "2"), after = sum(terms, "3");
    for (int round = 0; round < 5; ++round) {
      const auto from = std::chrono::steady_clock::now();
      const DiffWords d = expressionDiff(before, after);
      const auto ns = std::chrono::steady_clock::now() - from;
      least = std::min(least, std::chrono::duration<double>(ns).count());
      // Every factor is marked, and nothing but the factors.
      CHECK(std::ranges::count(d.before, true, &DiffWord::changed) == terms);
    }
    return least;
  };
  const double times = seconds(8000) / seconds(1000);
  CHECK_MESSAGE(times < 32, times); // 8 times as long; 64 would be quadratic
}

TEST_CASE("expression diff: deep texts are compared at every depth") {
  std::string before = "r0", after = "r0";
  for (int i = 1; i < 180; ++i) {
    before = "(" + before + "+r" + std::to_string(i) + ")";
    after = "(" + after + "+" + (i == 7 ? "s" : "r") + std::to_string(i) + ")";
  }
  const DiffWords d = expressionDiff(before, after);
  CHECK(shown(d.before).find("+[r7])") != std::string::npos);
  CHECK(std::ranges::count(d.before, true, &DiffWord::changed) == 1);
}
