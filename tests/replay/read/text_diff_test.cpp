// Line and word differences, against the definition: the kept items are a longest common subsequence.
#include "replay/read/text_diff.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace uopscope;

namespace {
std::string joined(const std::vector<DiffLine>& lines, char without) {
  std::string s;
  for (const DiffLine& d : lines)
    if (d.mark != without) s += std::string(d.text) + "\n";
  return s;
}
size_t longestCommon(const std::string& a, const std::string& b) { // of the single letters
  std::vector<std::vector<size_t>> t(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 1; i <= a.size(); ++i)
    for (size_t j = 1; j <= b.size(); ++j)
      t[i][j] = a[i - 1] == b[j - 1] ? t[i - 1][j - 1] + 1 : std::max(t[i - 1][j], t[i][j - 1]);
  return t[a.size()][b.size()];
}
} // namespace

TEST_CASE("a diff gives both texts back and keeps as many lines as can be") {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    std::string a, b, la, lb;
    for (auto* s : {&a, &b})
      for (int n = static_cast<int>(random() % 14); n > 0; --n) *s += static_cast<char>('a' + random() % 4);
    for (char c : a) la += std::string(1, c) + "\n";
    for (char c : b) lb += std::string(1, c) + "\n";
    auto lines = diffLines(la, lb);
    CHECK(joined(lines, '+') == la);
    CHECK(joined(lines, '-') == lb);
    auto kept = static_cast<size_t>(
        std::count_if(lines.begin(), lines.end(), [](const DiffLine& d) { return d.mark == ' '; }));
    CHECK(kept == longestCommon(a, b));
  }
}

TEST_CASE("a unified diff reads as diff -u writes it") {
  CHECK(unifiedDiff("a\nb\nc\n", "a\nx\nc\n", "before", "after") ==
        "--- before\n+++ after\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
  CHECK(unifiedDiff("a\n", "a\n", "before", "after").empty());
  CHECK(unifiedDiff("", "a\n", "b", "a") == "--- b\n+++ a\n@@ -0,0 +1,1 @@\n+a\n");
}

TEST_CASE("changed words are marked, the rest is not") {
  DiffWords w = diffWords("float alu3 = val0 + 1.0f;", "float alu3 = val1 + 1.0f;");
  std::string before;
  for (const DiffWord& d : w.before)
    before += d.changed ? "[" + std::string(d.text) + "]" : std::string(d.text);
  CHECK(before == "float alu3 = [val0] + 1.0f;");
}

TEST_CASE("only lines that are alike stand beside each other, in the order of both texts") {
  const auto lines =
      diffLines("void kernel_4(float* out) {\n  float16 a = load(in);\n  end(a);\n}\n",
                "typedef float float4;\nvoid kernel_8(float* out) {\n  end(b);\n  other = 3;\n}\n");
  std::string rows;
  for (const auto& [left, right] : sideBySide(lines)) {
    rows += left < 0 ? "-" : std::to_string(lines[static_cast<size_t>(left)].before);
    rows += right < 0 ? "|- " : "|" + std::to_string(lines[static_cast<size_t>(right)].after) + " ";
  }
  CHECK(rows == "-|1 1|2 2|- 3|3 -|4 4|5 ");
}

TEST_CASE("mere renaming is no difference, other numbers are") {
  CHECK(withoutNames("alu12 = val3 + alu7;") == withoutNames("alu0 = val9 + alu1;"));
  CHECK(withoutNames("alu1 = alu1;") != withoutNames("alu1 = alu2;"));
  CHECK(withoutNames("x = 12;") != withoutNames("x = 13;"));
  CHECK(withoutNames("float4 a;") != withoutNames("float8 a;"));
}
