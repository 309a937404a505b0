// For the exact distribution of U it counts, for every sum of ranks, the ways to choose that many of the
// ranks.
#include "replay/experiment/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace uopscope {

namespace {

constexpr double kSignificant = 0.01;
constexpr size_t kFewest = 5, kExactUpTo = 40;

double medianOf(const std::vector<double>& sorted) {
  const size_t n = sorted.size();
  return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/// P(U <= u) for each u: ways[s] counts the choices of n numbers out of 1..n+m with sum s.
std::vector<double> exactDistribution(size_t n, size_t m) {
  const size_t most = n * m;
  // f[i][k][s]: i values of the first sample among k in all; the recurrence adds the largest value.
  std::vector<std::vector<double>> ways(n + 1, std::vector<double>(most + 1, 0.0));
  ways[0][0] = 1;
  for (size_t k = 1; k <= n + m; ++k)
    for (size_t i = std::min(k, n); i >= 1; --i) {
      const size_t below = k - i; // values of the second sample below the added one
      if (below > m) continue;
      for (size_t s = most + 1; s-- > below;) ways[i][s] += ways[i - 1][s - below];
    }
  std::vector<double> sums = std::move(ways[n]);
  for (size_t s = 1; s <= most; ++s) sums[s] += sums[s - 1];
  for (double& v : sums) v /= sums.back();
  return sums;
}

/// An experiment asks for the same two sizes thousands of times.
double exactTail(size_t n, size_t m, double u) {
  thread_local std::map<std::pair<size_t, size_t>, std::vector<double>> known;
  std::vector<double>& sums = known[{n, m}];
  if (sums.empty()) sums = exactDistribution(n, m);
  return std::min(1.0, 2 * sums[static_cast<size_t>(u)]);
}

} // namespace

Summary summarize(std::vector<double> values) {
  Summary s;
  s.count = values.size();
  if (values.empty()) return s;
  std::ranges::sort(values);
  s.least = values.front(), s.most = values.back();
  for (double v : values) s.mean += v;
  s.mean /= static_cast<double>(values.size());
  for (double v : values) s.deviation += (v - s.mean) * (v - s.mean);
  s.deviation = values.size() > 1 ? std::sqrt(s.deviation / static_cast<double>(values.size() - 1)) : 0;
  s.median = medianOf(values);
  // The k-th smallest and largest values enclose the median unless fewer than k of n values fell on one side.
  const auto n = static_cast<double>(values.size());
  size_t k = 0;
  double below = 0, binomial = std::pow(0.5, n);
  for (size_t i = 0; i < values.size() / 2; ++i) {
    below += binomial;
    if (2 * below > 0.05) break;
    k = i + 1;
    binomial *= (n - static_cast<double>(i)) / static_cast<double>(i + 1);
  }
  s.low = values[k ? k - 1 : 0];
  s.high = values[values.size() - (k ? k : 1)];
  return s;
}

double mannWhitney(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.empty() || b.empty()) return 1;
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  std::map<double, std::pair<size_t, size_t>> times; // how often a and b have each value
  for (double v : a) ++times[v].first;
  for (double v : b) ++times[v].second;
  double u = 0, below = 0; // number of pairs in which the value of a is larger; values of b below
  for (const auto& [value, count] : times) {
    const auto [x, y] = std::pair(static_cast<double>(count.first), static_cast<double>(count.second));
    u += x * (below + y / 2);
    below += y;
  }
  const double smaller = std::min(u, n * m - u);
  const bool ties = times.size() < a.size() + b.size();
  if (!ties && a.size() + b.size() <= kExactUpTo) return exactTail(a.size(), b.size(), smaller);
  double tieTerm = 0;
  for (const auto& [value, count] : times) {
    const auto k = static_cast<double>(count.first + count.second);
    tieTerm += k * k * k - k;
  }
  const double variance = n * m / 12 * (n + m + 1 - tieTerm / ((n + m) * (n + m - 1)));
  if (variance <= 0) return 1;
  const double z = std::max(0.0, n * m / 2 - smaller - 0.5) / std::sqrt(variance);
  return std::erfc(z / std::sqrt(2.0));
}

Comparison compareSamples(const std::vector<double>& before, const std::vector<double>& after) {
  Comparison c;
  if (before.empty() || after.empty()) return c;
  std::vector<double> x = before, y = after;
  std::ranges::sort(x);
  std::ranges::sort(y);
  const double from = medianOf(x), to = medianOf(y);
  c.ratio = from == to ? 1 : from != 0 ? to / from : std::numeric_limits<double>::infinity();
  if (x.size() < kFewest || y.size() < kFewest) return c;
  c.p = mannWhitney(x, y);
  c.verdict = c.p >= kSignificant ? Verdict::NoDifference
              : to > from         ? Verdict::Slower
              : to < from         ? Verdict::Faster
                                  : Verdict::NoDifference;
  return c;
}

} // namespace uopscope
