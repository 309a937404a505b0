// Myers' greedy algorithm over numbered lines; common beginnings and ends are taken off first.
#include "replay/read/text_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>

namespace uopscope {

namespace {

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return lines;
}

/// For each item of a and of b whether it is kept: a longest common subsequence, or nothing where more than
/// `maxEdits` edits are needed.
struct Kept {
  std::vector<bool> a, b;
};
Kept commonItems(const std::vector<int>& a, const std::vector<int>& b, int maxEdits) {
  Kept kept{std::vector<bool>(a.size()), std::vector<bool>(b.size())};
  size_t head = 0, tail = 0, least = std::min(a.size(), b.size());
  while (head < least && a[head] == b[head]) ++head;
  while (tail < least - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  for (size_t i = 0; i < head; ++i) kept.a[i] = kept.b[i] = true;
  for (size_t i = 1; i <= tail; ++i) kept.a[a.size() - i] = kept.b[b.size() - i] = true;
  const int n = static_cast<int>(a.size() - head - tail), m = static_cast<int>(b.size() - head - tail);
  if (n == 0 || m == 0) return kept;

  // Furthest x on diagonal k after d edits. One row per d is kept for the walk back.
  int limit = std::min(maxEdits, n + m);
  std::vector<std::vector<int>> rows;
  std::vector<int> furthest(2 * static_cast<size_t>(limit) + 3, 0);
  auto at = [&](std::vector<int>& v, int k) -> int& {
    return v[static_cast<size_t>(k + static_cast<std::ptrdiff_t>(v.size() / 2))];
  };
  int edits = -1;
  for (int d = 0; d <= limit && edits < 0; ++d) {
    rows.emplace_back(furthest.begin() + (limit + 1 - d), furthest.begin() + (limit + 2 + d));
    for (int k = -d; k <= d; k += 2) {
      int x = k == -d || (k != d && at(furthest, k - 1) < at(furthest, k + 1)) ? at(furthest, k + 1)
                                                                               : at(furthest, k - 1) + 1;
      while (x < n && x - k < m && a[head + static_cast<size_t>(x)] == b[head + static_cast<size_t>(x - k)])
        ++x;
      at(furthest, k) = x;
      if (x >= n && x - k >= m) {
        edits = d;
        break;
      }
    }
  }
  if (edits < 0) return kept;
  int x = n, y = m;
  for (int d = edits; d > 0 && (x > 0 || y > 0); --d) {
    std::vector<int>& row = rows[static_cast<size_t>(d)]; // before edit d: diagonals -d ... d
    int k = x - y;
    auto value = [&](int diagonal) { return std::abs(diagonal) > d ? -1 : at(row, diagonal); };
    int fromK = k == -d || (k != d && value(k - 1) < value(k + 1)) ? k + 1 : k - 1;
    int fromX = value(fromK), fromY = fromX - fromK;
    int startX = fromK == k + 1 ? fromX : fromX + 1;
    for (; x > startX; --x, --y)
      kept.a[head + static_cast<size_t>(x - 1)] = kept.b[head + static_cast<size_t>(y - 1)] = true;
    x = fromX, y = fromY;
  }
  for (; x > 0 && y > 0; --x, --y)
    kept.a[head + static_cast<size_t>(x - 1)] = kept.b[head + static_cast<size_t>(y - 1)] = true;
  return kept;
}

std::vector<int> numbered(const std::vector<std::string_view>& items,
                          std::unordered_map<std::string_view, int>& numbers) {
  std::vector<int> out;
  for (std::string_view s : items)
    out.push_back(numbers.try_emplace(s, static_cast<int>(numbers.size())).first->second);
  return out;
}

std::vector<std::string_view> wordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  auto isName = [](char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
  for (size_t i = 0; i < line.size();) {
    size_t from = i++;
    if (isName(line[from]))
      while (i < line.size() && isName(line[i])) ++i;
    else if (line[from] == ' ')
      while (i < line.size() && line[i] == ' ') ++i;
    words.push_back(line.substr(from, i - from));
  }
  return words;
}

std::vector<DiffWord> runs(const std::vector<std::string_view>& words, const std::vector<bool>& kept) {
  std::vector<DiffWord> out;
  for (size_t i = 0; i < words.size(); ++i) {
    if (!out.empty() && out.back().changed == !kept[i])
      out.back().text = {out.back().text.data(), out.back().text.size() + words[i].size()};
    else
      out.push_back({words[i], !kept[i]});
  }
  return out;
}

// Blocks of more pairs than this are paired in order.
constexpr size_t kMostPairs = 4096;
constexpr float kLeastLikeness = 0.5f;

/// The share of words that two lines have in common, without spaces and punctuation.
float likeness(std::string_view a, std::string_view b) {
  auto names = [](std::string_view line) {
    std::vector<std::string_view> words = wordsOf(line);
    std::erase_if(words, [](std::string_view w) { return !isalnum(static_cast<unsigned char>(w[0])); });
    std::sort(words.begin(), words.end());
    return words;
  };
  const auto x = names(a), y = names(b);
  if (x.empty() && y.empty()) return 1;
  std::vector<std::string_view> common;
  std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(common));
  return 2 * static_cast<float>(common.size()) / static_cast<float>(x.size() + y.size());
}

// Pairs lines of a block that are alike, in order: the pairs with the highest sum of likenesses. `removed` to
// `added` are the old lines, `added` to the end the new ones.
void pairAlike(std::vector<DiffLine>& lines, size_t removed, size_t added) {
  const size_t n = added - removed, m = lines.size() - added;
  auto pair = [&](size_t i, size_t j) {
    lines[removed + i].partner = static_cast<int>(added + j);
    lines[added + j].partner = static_cast<int>(removed + i);
  };
  auto alike = [&](size_t i, size_t j) {
    const float share = likeness(lines[removed + i].text, lines[added + j].text);
    return share < kLeastLikeness ? 0 : share;
  };
  if (n * m > kMostPairs) {
    for (size_t k = 0; k < std::min(n, m); ++k)
      if (alike(k, k) > 0) pair(k, k);
    return;
  }
  std::vector<float> share(n * m), best((n + 1) * (m + 1), 0);
  auto sum = [&](size_t i, size_t j) -> float& { return best[i * (m + 1) + j]; };
  for (size_t i = n; i-- > 0;)
    for (size_t j = m; j-- > 0;) {
      share[i * m + j] = alike(i, j);
      sum(i, j) = std::max({sum(i + 1, j), sum(i, j + 1), sum(i + 1, j + 1) + share[i * m + j]});
    }
  for (size_t i = 0, j = 0; i < n && j < m;) {
    if (share[i * m + j] > 0 && sum(i, j) == sum(i + 1, j + 1) + share[i * m + j])
      pair(i++, j++);
    else if (sum(i, j) == sum(i + 1, j))
      ++i;
    else
      ++j;
  }
}

} // namespace

std::vector<DiffLine> diffLines(std::string_view before, std::string_view after) {
  auto a = linesOf(before), b = linesOf(after);
  std::unordered_map<std::string_view, int> numbers;
  auto na = numbered(a, numbers), nb = numbered(b, numbers);
  Kept kept = commonItems(na, nb, kMaxEdits);
  std::vector<DiffLine> out;
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    size_t removed = out.size();
    for (; i < a.size() && !kept.a[i]; ++i) out.push_back({'-', a[i], static_cast<int>(i + 1), 0, -1});
    size_t added = out.size();
    for (; j < b.size() && !kept.b[j]; ++j) out.push_back({'+', b[j], 0, static_cast<int>(j + 1), -1});
    pairAlike(out, removed, added);
    if (i < a.size() && j < b.size()) {
      out.push_back({' ', a[i], static_cast<int>(i + 1), static_cast<int>(j + 1), -1});
      ++i, ++j;
    }
  }
  return out;
}

std::vector<std::pair<int, int>> sideBySide(const std::vector<DiffLine>& lines) {
  std::vector<std::pair<int, int>> rows;
  const int count = static_cast<int>(lines.size());
  auto at = [&](int i) -> const DiffLine& { return lines[static_cast<size_t>(i)]; };
  for (int i = 0; i < count;) {
    if (at(i).mark == ' ') {
      rows.emplace_back(i, i);
      ++i;
      continue;
    }
    int added = i;
    while (added < count && at(added).mark == '-') ++added;
    int end = added, next = added; // new lines up to `next` have their rows
    while (end < count && at(end).mark == '+') ++end;
    for (; i < added; ++i) {
      if (at(i).partner >= 0)
        while (next < at(i).partner) rows.emplace_back(-1, next++);
      rows.emplace_back(i, at(i).partner);
      if (at(i).partner >= 0) ++next;
    }
    while (next < end) rows.emplace_back(-1, next++);
    i = end;
  }
  return rows;
}

LineChanges lineChanges(std::string_view before, std::string_view after) {
  LineChanges out;
  for (const DiffLine& d : diffLines(before, after)) {
    out.added += d.mark == '+';
    out.removed += d.mark == '-';
  }
  return out;
}

std::vector<std::string> lineDiff(std::string_view before, std::string_view after) {
  std::vector<std::string> out;
  for (const DiffLine& d : diffLines(before, after)) out.push_back(d.mark + std::string(d.text));
  return out;
}

std::vector<std::pair<int, int>> alignItems(const std::vector<uint64_t>& before,
                                            const std::vector<uint64_t>& after) {
  std::unordered_map<uint64_t, int> numbers;
  auto numbered = [&](const std::vector<uint64_t>& items) {
    std::vector<int> out;
    for (uint64_t item : items)
      out.push_back(numbers.try_emplace(item, static_cast<int>(numbers.size())).first->second);
    return out;
  };
  const std::vector<int> a = numbered(before), b = numbered(after);
  const Kept kept = commonItems(a, b, kMaxEdits);
  std::vector<std::pair<int, int>> out;
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    for (; i < a.size() && !kept.a[i]; ++i) out.emplace_back(static_cast<int>(i), -1);
    for (; j < b.size() && !kept.b[j]; ++j) out.emplace_back(-1, static_cast<int>(j));
    if (i < a.size() && j < b.size()) out.emplace_back(static_cast<int>(i++), static_cast<int>(j++));
  }
  return out;
}

DiffWords diffWords(std::string_view before, std::string_view after) {
  auto a = wordsOf(before), b = wordsOf(after);
  std::unordered_map<std::string_view, int> numbers;
  auto na = numbered(a, numbers), nb = numbered(b, numbers);
  Kept kept = commonItems(na, nb, 400);
  return {runs(a, kept.a), runs(b, kept.b)};
}

std::string unifiedDiff(std::string_view before, std::string_view after, std::string_view beforeName,
                        std::string_view afterName, int context) {
  std::vector<DiffLine> lines = diffLines(before, after);
  auto isChange = [](const DiffLine& d) { return d.mark != ' '; };
  if (std::none_of(lines.begin(), lines.end(), isChange)) return {};
  std::string out = fmt::format("--- {}\n+++ {}\n", beforeName, afterName);
  auto gap = static_cast<size_t>(context);
  for (size_t i = 0; i < lines.size();) {
    if (!isChange(lines[i])) {
      ++i;
      continue;
    }
    size_t from = i > gap ? i - gap : 0, last = i;
    for (size_t j = i; j < lines.size() && j <= last + 2 * gap; ++j)
      if (isChange(lines[j])) last = j;
    size_t to = std::min(lines.size(), last + gap + 1);
    int aFrom = 0, bFrom = 0, aCount = 0, bCount = 0;
    std::string hunk;
    for (size_t j = from; j < to; ++j) {
      const DiffLine& d = lines[j];
      if (d.mark != '+' && aCount++ == 0) aFrom = d.before;
      if (d.mark != '-' && bCount++ == 0) bFrom = d.after;
      hunk += fmt::format("{}{}\n", d.mark, d.text);
    }
    out += fmt::format("@@ -{},{} +{},{} @@\n{}", aFrom, aCount, bFrom, bCount, hunk);
    i = to;
  }
  return out;
}

std::string withoutNames(std::string_view source) {
  std::map<std::string, std::string, std::less<>> renamed;
  std::map<std::string, int, std::less<>> counters;
  std::string out;
  auto isName = [](char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t i = 0; i < source.size();) {
    size_t from = i++;
    if (!isName(source[from])) {
      out += source[from];
      continue;
    }
    while (i < source.size() && isName(source[i])) ++i;
    std::string_view name = source.substr(from, i - from);
    size_t stem = name.find_first_of("0123456789");
    static constexpr std::string_view kTypes[] = {"float", "double", "int", "i", "uint",
                                                  "long",  "half",   "bf",  "u", "x"};
    bool isType = std::find(std::begin(kTypes), std::end(kTypes),
                            name.substr(0, std::min(stem, name.size()))) != std::end(kTypes);
    if (stem == std::string_view::npos || stem == 0 || isType) {
      out += name;
      continue;
    }
    auto [it, isNew] = renamed.try_emplace(std::string(name));
    if (isNew)
      it->second = fmt::format("{}{}", name.substr(0, stem), counters[std::string(name.substr(0, stem))]++);
    out += it->second;
  }
  return out;
}

} // namespace uopscope
