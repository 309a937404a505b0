// Compares two texts by lines, and two lines by words (Myers, "An O(ND) Difference Algorithm", 1986).
//
//   for (const DiffLine& d : diffLines(before, after)) print(d.mark, d.text);     // ' ', '-', '+'
//   std::string u = unifiedDiff(before, after, "before", "after");
//
// Texts that need more than kMaxEdits edits are not aligned: all old lines are removed and all new ones
// added.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace uopscope {

struct DiffLine {
  char mark = ' ';           ///< ' ' in both, '-' before only, '+' after only
  std::string_view text;     ///< points into the texts given
  int before = 0, after = 0; ///< line numbers from 1; 0: not in that text
  int partner = -1;          ///< index of the line of the other text that a changed line became
};
constexpr int kMaxEdits = 4000;

std::vector<DiffLine> diffLines(std::string_view before, std::string_view after);

/// The difference as rows of two columns: indices of the lines on the left and on the right, or -1. A changed
/// line stands beside its partner; a line without one stands alone.
std::vector<std::pair<int, int>> sideBySide(const std::vector<DiffLine>& lines);

/// The number of lines that only one of two texts has.
struct LineChanges {
  int64_t added = 0, removed = 0;
};
LineChanges lineChanges(std::string_view before, std::string_view after);

/// The difference as text: every line after its mark.
std::vector<std::string> lineDiff(std::string_view before, std::string_view after);

/// Two lists aligned by their longest common subsequence: places in both, or -1 where only one list has the
/// item. Items of the first list alone come before items of the second alone.
std::vector<std::pair<int, int>> alignItems(const std::vector<uint64_t>& before,
                                            const std::vector<uint64_t>& after);

/// Pieces of a changed line: runs of words that are in both lines, or in this one alone.
struct DiffWord {
  std::string_view text;
  bool changed = false;
};
struct DiffWords {
  std::vector<DiffWord> before, after;
};
DiffWords diffWords(std::string_view before, std::string_view after);

/// The difference in the form of `diff -u`, with `context` lines around changes; empty for equal texts.
std::string unifiedDiff(std::string_view before, std::string_view after, std::string_view beforeName,
                        std::string_view afterName, int context = 3);

/// The text with the numbers in names (alu12, val3, %cast7, data0_64) given anew in order of appearance, so
/// that mere renaming is no difference.
std::string withoutNames(std::string_view source);

} // namespace uopscope
