// Statistics of repeated measurements; they assume nothing about the distribution.
//
//   Summary s = summarize({1.01, 0.99, 1.00});                // median 1, its interval, mean, deviation
//   Comparison c = compareSamples(before, after);             // c.verdict == Verdict::Slower, c.p == 0.0003
#pragma once
#include <cstddef>
#include <vector>

namespace uopscope {

struct Summary {
  size_t count = 0;
  double mean = 0, deviation = 0; ///< deviation: of the sample (n - 1)
  double median = 0;
  double low = 0, high = 0;   ///< interval of the true median in 95 of 100 experiments (order statistics);
                              ///< with too few values: the extremes
  double least = 0, most = 0; ///< the extremes
};
Summary summarize(std::vector<double> values);

enum class Verdict { NoDifference, Faster, Slower, TooFew };
struct Comparison {
  Verdict verdict = Verdict::TooFew;
  double p = 1;     ///< result of the two-sided Mann-Whitney U test
  double ratio = 1; ///< median of after divided by median of before; infinite where that is 0
};
/// Claims a difference where the Mann-Whitney U test gives p < 0.01. With fewer than five values on a side it
/// claims nothing. "Slower" means that `after` has the larger values.
Comparison compareSamples(const std::vector<double>& before, const std::vector<double>& after);

/// p of the two-sided test: exact by counting for up to 40 values without ties, otherwise the normal
/// approximation corrected for ties and continuity.
double mannWhitney(const std::vector<double>& a, const std::vector<double>& b);

} // namespace uopscope
