// An experiment as people look at it: every cell with the values and the summary of each metric, and pairs of
// cells compared. Terminal, window and page share it. It reads the file once and holds no file afterwards.
//
//   const Measured before = measured("before.uopbench"), after = measured("after.uopbench");
//   for (const CellPair& pair : pairsBetween(before, after).pairs)
//     if (compareMetric(pair, Metric::Wall).verdict == Verdict::Slower) ...
//
// A file with implausibly many cells or runs throws Error(File): files come from anybody.
#pragma once
#include "replay/experiment/experiment.h"
#include "replay/experiment/statistics.h"

#include <array>
#include <functional>

namespace uopscope {

struct MeasuredCell {
  BenchCell cell;
  std::array<std::vector<double>, std::size(kMetrics)> values; ///< of counted runs that ended well, by round
  std::array<Summary, std::size(kMetrics)> summaries;
  int64_t failed = 0;
  std::string failure;                               ///< the end of the first failed run's output
  std::optional<std::pair<int64_t, int64_t>> counts; ///< kernels and launches of a run
  std::vector<BenchKernel> kernels;
  bool captured = false; ///< whether the file has its compilations

  const std::vector<double>& of(Metric metric) const { return values[static_cast<size_t>(metric)]; }
  const Summary& summary(Metric metric) const { return summaries[static_cast<size_t>(metric)]; }
};

struct Measured {
  std::string path;
  std::map<std::string, std::string> meta;
  std::vector<MeasuredCell> cells; ///< in order of their settings

  std::string at(const std::string& key) const;
};
/// `stop` is asked now and then; where it answers true, reading ends with Error(Runtime).
Measured measured(const std::string& path, const std::function<bool()>& stop = {});

/// Two cells to compare: equal settings in two files (the program is none where each file has one), or two cells of
/// one file that differ in one setting.
/// They point into the experiments that they come from.
struct CellPair {
  std::string name; ///< the settings, or "NOOPT 0 to 1 (DEV=CPU)"
  const MeasuredCell* before = nullptr;
  const MeasuredCell* after = nullptr;
};
struct CellPairs {
  std::vector<CellPair> pairs;
  size_t left = 0; ///< number of further pairs beyond the limit
};
constexpr size_t kMostPairs = 20'000;
CellPairs pairsWithin(const Measured& experiment);
CellPairs pairsBetween(const Measured& before, const Measured& after);

/// Verdict::TooFew where a side has fewer than five values, also for none.
Comparison compareMetric(const CellPair& pair, Metric metric);
/// "better", "worse", "no difference", "too few runs"
const char* verdictWord(Verdict verdict);
/// "+5.2 %" of a ratio 1.052, "from 0" of an infinite one.
std::string changeText(double ratio);
/// A sentence about a difference of two files that makes times incomparable (another machine, script or
/// arguments), or empty.
std::string incomparable(const Measured& before, const Measured& after);

} // namespace uopscope
