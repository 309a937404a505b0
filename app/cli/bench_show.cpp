// uopscope bench show and compare: an experiment as a table with a plot, as JSON, as a page or in the window,
// and better, worse or no difference between two.
//
//   DEV=CPU NOOPT=0  ●━●┃●━      ●        every run is a mark; ━ is the interval of the median, ┃ the median
#include "app/cli/bench_command.h"
#include "app/cli/output.h"
#include "replay/experiment/bench_html.h"
#include "replay/experiment/measured.h"
#include "replay/schema/quantity_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace uopscope::cli {

namespace {

constexpr int kStripWidth = 56;

Json jsonOf(const Summary& s) {
  return {{"count", s.count},   {"mean", s.mean}, {"deviation", s.deviation},
          {"median", s.median}, {"low", s.low},   {"high", s.high}};
}

/// The values between 0 and `most` as marks on a line.
std::string strip(const std::vector<double>& values, const Summary& s, double most) {
  auto at = [&](double v) {
    return static_cast<size_t>(std::lround(std::clamp(v / most, 0.0, 1.0) * (kStripWidth - 1)));
  };
  std::vector<std::string> cells(kStripWidth, " ");
  for (size_t k = at(s.low); k <= at(s.high); ++k) cells[k] = "━";
  for (double v : values) cells[at(v)] = "●";
  cells[at(s.median)] = "┃";
  return fmt::format("{}", fmt::join(cells, ""));
}

void printPlot(const Measured& e, Metric metric) {
  double most = 0;
  size_t width = 0;
  for (const MeasuredCell& c : e.cells) {
    most = std::max(most, c.summary(metric).most);
    width = std::max(width, c.cell.name().size());
  }
  if (most <= 0) return;
  width = std::min<size_t>(width, 40);
  const std::string end = amountText(metric, most);
  fmt::print("\n{:<{}}  0{:>{}}\n", metricName(metric), width, end, kStripWidth - 1);
  for (const MeasuredCell& c : e.cells)
    if (!c.of(metric).empty())
      fmt::print("{:<{}}  {}\n", c.cell.name().substr(0, width), width,
                 strip(c.of(metric), c.summary(metric), most));
  fmt::print("● a run, ━ the interval of the median, ┃ the median\n");
}

void printTable(const Measured& e) {
  fmt::print("{}  {}\n{} runs of each cell, {} to warm up, seed {}; median and its 95 % interval\n\n",
             e.at("script"), e.at("machine"), e.at("repeat"), e.at("warmup"), e.at("seed"));
  Table table({"cell", "wall", "interval", "mean", "deviation", "kernels", "compile", "search", "peak",
               "launches", "failed"});
  for (const MeasuredCell& c : e.cells) {
    auto median = [&](Metric metric) {
      return c.of(metric).empty() ? std::string("-") : amountText(metric, c.summary(metric).median);
    };
    const Summary& wall = c.summary(Metric::Wall);
    auto time = [&](double v) { return wall.count ? amountText(Metric::Wall, v) : std::string("-"); };
    table.add({c.cell.name(), median(Metric::Wall),
               wall.count ? fmt::format("{} to {}", time(wall.low), time(wall.high)) : "-", time(wall.mean),
               time(wall.deviation), median(Metric::Kernel), median(Metric::Compile), median(Metric::Search),
               median(Metric::Peak), c.counts ? countText(c.counts->second) : "-", std::to_string(c.failed)});
  }
  table.print();
}

/// `pairs`: the cells of one experiment compared.
int inWindow(const BenchArguments& a, bool pairs) {
  OpenOptions window;
  window.compare = {a.file};
  if (!a.other.empty()) window.compare.push_back(a.other);
  if (pairs) window.links = {"tab=compare"};
  window.screenshot = a.screenshot;
  return open(window);
}

void writePage(const BenchArguments& a, const std::string& page) {
  std::ofstream out(a.html, std::ios::trunc);
  out << page;
  out.close();
  if (!out) throw Error(ErrorKind::File, fmt::format("{}: cannot be written", a.html));
  if (!a.quiet) fmt::print("{}\n", a.html);
}

} // namespace

int showBench(const BenchArguments& a) {
  if (a.open || !a.screenshot.empty()) return inWindow(a, false);
  const Measured e = measured(a.file);
  if (!a.html.empty()) {
    writePage(a, benchPage(e));
    return kFine;
  }
  if (a.json) {
    Json out{{"meta", e.meta}, {"cells", Json::array()}};
    for (const MeasuredCell& c : e.cells) {
      Json cell{{"settings", c.cell.settings}};
      for (Metric metric : kMetrics)
        if (!c.of(metric).empty()) cell[metricName(metric)] = jsonOf(c.summary(metric));
      cell["failed"] = c.failed;
      out["cells"].push_back(cell);
    }
    printJson(out);
    return kFine;
  }
  printTable(e);
  printPlot(e, Metric::Wall);
  for (const MeasuredCell& c : e.cells)
    if (c.failed)
      fmt::print("\n{}: {} runs failed; the end of the first one's output:\n{}\n", c.cell.name(), c.failed,
                 c.failure);
  return kFine;
}

int compareBench(const BenchArguments& a) {
  if (a.open || !a.screenshot.empty()) return inWindow(a, a.other.empty());
  const Measured first = measured(a.file);
  std::optional<Measured> second;
  if (!a.other.empty()) second = measured(a.other);
  const CellPairs found = second ? pairsBetween(first, *second) : pairsWithin(first);
  if (found.pairs.empty())
    throw Error(ErrorKind::Value,
                second
                    ? fmt::format("{} and {} have no cell of equal settings", a.file, a.other)
                    : fmt::format("{}: no two cells differ in one setting; give another experiment", a.file));
  Json out = Json::array();
  Table table({"cell", "metric", "before", "after", "change", "p", "verdict"});
  bool slower = false;
  for (const CellPair& pair : found.pairs)
    for (Metric metric : kMetrics) {
      if (pair.before->of(metric).empty() || pair.after->of(metric).empty()) continue;
      const Comparison c = compareMetric(pair, metric);
      slower |= c.verdict == Verdict::Slower && metric == Metric::Wall;
      const double x = pair.before->summary(metric).median, y = pair.after->summary(metric).median;
      out.push_back({{"cell", pair.name},
                     {"metric", metricName(metric)},
                     {"before", x},
                     {"after", y},
                     {"ratio", c.ratio},
                     {"p", c.p},
                     {"verdict", verdictWord(c.verdict)}});
      table.add({pair.name, metricName(metric), amountText(metric, x), amountText(metric, y),
                 changeText(c.ratio), fmt::format("{:.2g}", c.p), verdictWord(c.verdict)});
    }
  if (!a.html.empty()) {
    writePage(a, comparisonPage(first, second ? &*second : nullptr, found));
  } else if (a.json) {
    printJson(out);
  } else {
    table.print();
    fmt::print("change: after minus before, of the medians; verdict by the two-sided Mann-Whitney U test, p "
               "< 0.01\n");
  }
  if (second)
    if (const std::string words = incomparable(first, *second); !words.empty())
      fmt::print(stderr, "uopscope: {}\n", words);
  if (found.left)
    fmt::print(stderr, "uopscope: {} further pairs of cells are left out\n", countText(int64_t(found.left)));
  return slower ? kFailed : kFine;
}

} // namespace uopscope::cli
