// Colouring of the columns or rows of a pattern, so that a few directional derivatives contain all elements.
#include "engine/transform/sparsity.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace uopscope {

namespace {

/// The pattern as lines (the columns or rows to be coloured) and meetings (rows or columns in which lines
/// overlap). Two lines of one colour must not meet.
struct Lines {
  std::vector<int32_t> linePtr, meetings; ///< per line
  std::vector<int32_t> meetPtr, lines;    ///< per meeting

  int32_t count() const { return static_cast<int32_t>(linePtr.size()) - 1; }
  std::span<const int32_t> of(int32_t line) const { return part(linePtr, meetings, line); }
  std::span<const int32_t> at(int32_t meeting) const { return part(meetPtr, lines, meeting); }
  /// A lower bound for the number of colours.
  int32_t least() const {
    int32_t most = 0;
    for (size_t i = 0; i + 1 < meetPtr.size(); ++i) most = std::max(most, meetPtr[i + 1] - meetPtr[i]);
    return most;
  }

private:
  static std::span<const int32_t> part(const std::vector<int32_t>& ptr, const std::vector<int32_t>& all,
                                       int32_t i) {
    auto k = static_cast<size_t>(i);
    return std::span(all).subspan(static_cast<size_t>(ptr[k]), static_cast<size_t>(ptr[k + 1] - ptr[k]));
  }
};

/// Converts compressed rows to compressed columns.
void transpose(const Sparsity& s, std::vector<int32_t>& ptr, std::vector<int32_t>& rows) {
  ptr.assign(static_cast<size_t>(s.columns) + 1, 0);
  for (int32_t c : s.indices) ++ptr[static_cast<size_t>(c) + 1];
  std::partial_sum(ptr.begin(), ptr.end(), ptr.begin());
  std::vector<int32_t> next(ptr.begin(), ptr.end() - 1);
  rows.resize(s.indices.size());
  for (int32_t r = 0; r < s.rows; ++r)
    for (int32_t k = s.indptr[static_cast<size_t>(r)]; k < s.indptr[static_cast<size_t>(r) + 1]; ++k)
      rows[static_cast<size_t>(next[static_cast<size_t>(s.indices[static_cast<size_t>(k)])]++)] = r;
}

/// Gives each line in turn the smallest colour that no meeting line has.
Coloring greedy(const Lines& l, const std::vector<int32_t>& order) {
  Coloring out{true, 0, std::vector<int32_t>(static_cast<size_t>(l.count()), -1)};
  std::vector<int32_t> taken(static_cast<size_t>(l.count()) + 1,
                             -1); // by colour: the last line that could not take it
  for (int32_t line : order) {
    if (l.of(line).empty()) continue;
    for (int32_t meeting : l.of(line))
      for (int32_t other : l.at(meeting))
        if (int32_t c = out.color[static_cast<size_t>(other)]; c >= 0) taken[static_cast<size_t>(c)] = line;
    int32_t c = 0;
    while (taken[static_cast<size_t>(c)] == line) ++c;
    out.color[static_cast<size_t>(line)] = c;
    out.colors = std::max(out.colors, c + 1);
  }
  return out;
}

/// Smallest-last order: the line that meets the fewest lines is coloured last, and the same holds for the
/// remaining lines. A line counts once per meeting, which makes each update one step.
std::vector<int32_t> smallestLast(const Lines& l) {
  auto n = static_cast<size_t>(l.count());
  std::vector<int32_t> degree(n, 0), order;
  int32_t most = 0;
  for (size_t i = 0; i < n; ++i) {
    for (int32_t meeting : l.of(static_cast<int32_t>(i)))
      degree[i] += static_cast<int32_t>(l.at(meeting).size()) - 1;
    most = std::max(most, degree[i]);
  }
  std::vector<std::vector<int32_t>> buckets(static_cast<size_t>(most) + 1);
  for (size_t i = n; i-- > 0;) buckets[static_cast<size_t>(degree[i])].push_back(static_cast<int32_t>(i));
  std::vector<bool> gone(n, false);
  for (size_t b = 0; order.size() < n;) {
    if (buckets[b].empty()) {
      ++b;
      continue;
    }
    int32_t line = buckets[b].back();
    buckets[b].pop_back();
    if (gone[static_cast<size_t>(line)] || degree[static_cast<size_t>(line)] != static_cast<int32_t>(b))
      continue;
    gone[static_cast<size_t>(line)] = true;
    order.push_back(line);
    for (int32_t meeting : l.of(line))
      for (int32_t other : l.at(meeting)) {
        auto o = static_cast<size_t>(other);
        if (gone[o]) continue;
        buckets[static_cast<size_t>(--degree[o])].push_back(other);
        b = std::min(b, static_cast<size_t>(degree[o]));
      }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

/// The number of pairs of lines that meet, counted per meeting: the cost of the smallest-last order.
int64_t pairs(const Lines& l) {
  int64_t all = 0;
  for (size_t i = 0; i + 1 < l.meetPtr.size(); ++i)
    all += static_cast<int64_t>(l.meetPtr[i + 1] - l.meetPtr[i]) * (l.meetPtr[i + 1] - l.meetPtr[i]);
  return all;
}

Coloring best(const Lines& l) {
  constexpr int64_t kPairs = 30'000'000; // denser patterns gain nothing from the order
  std::vector<int32_t> natural(static_cast<size_t>(l.count()));
  std::iota(natural.begin(), natural.end(), 0);
  Coloring first = greedy(l, natural);
  if (first.colors == l.least() || pairs(l) > kPairs) return first;
  Coloring second = greedy(l, smallestLast(l));
  return second.colors < first.colors ? second : first;
}

} // namespace

Coloring colorPattern(const Sparsity& s, Seeds seeds) {
  Lines columns, rows;
  transpose(s, columns.linePtr, columns.meetings);
  columns.meetPtr = s.indptr;
  columns.lines = s.indices;
  rows = {columns.meetPtr, columns.lines, columns.linePtr, columns.meetings};
  auto colored = [](const Lines& l, bool byColumns) {
    Coloring c = best(l);
    c.byColumns = byColumns;
    return c;
  };
  if (!s.forward || seeds == Seeds::Rows) return colored(rows, false);
  if (seeds == Seeds::Columns) return colored(columns, true);
  bool columnsFirst = columns.least() <= rows.least();
  Coloring one = colored(columnsFirst ? columns : rows, columnsFirst);
  if ((columnsFirst ? rows : columns).least() >= one.colors) return one;
  Coloring other = colored(columnsFirst ? rows : columns, !columnsFirst);
  return other.colors < one.colors ? other : one;
}

} // namespace uopscope
