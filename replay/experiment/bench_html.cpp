// Writes the page of an experiment: a table and one strip of dots for each metric.
#include "replay/experiment/bench_html.h"

#include "replay/schema/html_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--line:#8886;--dot:#2a6fdb;--band:#2a6fdb33}
body{font:15px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;margin:1rem 0}td,th{padding:.25rem .8rem;border-bottom:1px solid var(--line);text-align:right}
td:first-child,th:first-child{text-align:left}.dot{fill:var(--dot);fill-opacity:.55}.band{fill:var(--band)}
.median{stroke:var(--dot);stroke-width:2}text{fill:currentColor;font-size:13px}.axis{stroke:var(--line)}
tr.worse td:last-child{font-weight:600;color:#c8501e}tr.better td:last-child{font-weight:600;color:#2a6fdb}
.before .dot{fill:#c8501e}.before .band{fill:#c8501e33}.before .median{stroke:#c8501e}pre{overflow:auto;background:#8881;padding:.6rem}
)";

/// A line of a strip: a dot for every run, a band for the interval of the median.
struct Strip {
  std::string name;
  const MeasuredCell* cell;
  const char* side = ""; ///< "before" or "after" in a comparison
};

std::string strips(const std::vector<Strip>& lines, Metric metric) {
  constexpr double kLeft = 260, kWidth = 640, kRow = 26;
  double most = 0;
  for (const Strip& l : lines) most = std::max(most, l.cell->summary(metric).most);
  if (most <= 0) return {};
  auto at = [&](double v) { return kLeft + kWidth * std::clamp(v / most, 0.0, 1.0); };
  std::string svg = fmt::format(
      "<h2>{}</h2><svg role='img' width='100%' viewBox='0 0 960 {}'><title>{} of every run</title>",
      metricName(metric), kRow * static_cast<double>(lines.size()) + 30, metricName(metric));
  double y = kRow / 2;
  for (const Strip& l : lines) {
    svg += fmt::format("<g class='{}'><text x='0' y='{:.1f}'>{}</text><line class='axis' x1='{}' x2='{}' "
                       "y1='{:.1f}' y2='{:.1f}'/>",
                       l.side, y + 4, htmlText(l.name), kLeft, kLeft + kWidth, y, y);
    if (const std::vector<double>& values = l.cell->of(metric); !values.empty()) {
      const Summary& s = l.cell->summary(metric);
      svg += fmt::format("<rect class='band' x='{:.1f}' y='{:.1f}' width='{:.1f}' height='16'/>", at(s.low),
                         y - 8, std::max(1.0, at(s.high) - at(s.low)));
      for (double v : values)
        svg += fmt::format("<circle class='dot' cx='{:.1f}' cy='{:.1f}' r='3.5'><title>{}</title></circle>",
                           at(v), y, amountText(metric, v));
      svg += fmt::format("<line class='median' x1='{0:.1f}' x2='{0:.1f}' y1='{1:.1f}' y2='{2:.1f}'/>",
                         at(s.median), y - 9, y + 9);
    }
    svg += "</g>";
    y += kRow;
  }
  svg += fmt::format("<text x='{}' y='{}'>0</text><text x='{}' y='{}' text-anchor='end'>{}</text></svg>",
                     kLeft, y + 6, kLeft + kWidth, y + 6, amountText(metric, most));
  return svg;
}

std::string head(const std::string& title, const std::string& about) {
  return fmt::format(
      "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' "
      "content='width=device-width'><title>{0}</title><style>{1}</style><h1>{0}</h1><p>{2}</p>",
      htmlText(title), kStyle, htmlText(about));
}

std::string about(const Measured& e) {
  return fmt::format("{} · {} · {} runs each after {} to warm up, seed {}", e.at("machine"), e.at("started"),
                     e.at("repeat"), e.at("warmup"), e.at("seed"));
}

constexpr Metric kPlotted[] = {Metric::Wall, Metric::Kernel, Metric::Compile, Metric::Peak};

} // namespace

std::string benchPage(const Measured& e) {
  std::string page = head(e.at("script"), about(e)) + "<table><tr><th>cell";
  for (Metric metric : kMetrics) page += fmt::format("<th>{}", metricName(metric));
  page += "<th>count of kernels<th>launches<th>failed";
  for (const MeasuredCell& c : e.cells) {
    page += "<tr><td>" + htmlText(c.cell.name());
    for (Metric metric : kMetrics) {
      if (c.of(metric).empty()) {
        page += "<td>–";
        continue;
      }
      const Summary& s = c.summary(metric);
      page +=
          fmt::format("<td title='mean {}, deviation {}, {} runs'>{}<br><small>{} – {}</small>",
                      amountText(metric, s.mean), amountText(metric, s.deviation), s.count,
                      amountText(metric, s.median), amountText(metric, s.low), amountText(metric, s.high));
    }
    page += c.counts ? fmt::format("<td>{}<td>{}", c.counts->first, c.counts->second) : "<td>–<td>–";
    page += fmt::format("<td>{}", c.failed);
  }
  page += "</table><p>Each cell: the median, and below it the interval that holds it in 95 of 100 "
          "experiments.</p>";
  std::vector<Strip> lines;
  for (const MeasuredCell& c : e.cells) lines.push_back({c.cell.name(), &c});
  for (Metric metric : kPlotted) page += strips(lines, metric);
  for (const MeasuredCell& c : e.cells) {
    if (c.failed)
      page += fmt::format("<h2>{}: {} runs failed</h2><pre>{}</pre>", htmlText(c.cell.name()), c.failed,
                          htmlText(c.failure));
    for (const BenchKernel& k : c.kernels)
      page +=
          fmt::format("<details><summary>{}: {} ({} launches, median {})</summary><pre>{}</pre></details>",
                      htmlText(c.cell.name()), htmlText(k.name), k.launches,
                      amountText(Metric::Kernel, static_cast<double>(k.medianNs)), htmlText(k.source));
  }
  return page + "</html>\n";
}

std::string comparisonPage(const Measured& before, const Measured* after, const CellPairs& found) {
  std::string page =
      head(before.at("script") + ": better, worse, no difference",
           after ? fmt::format("before: {} ({}); after: {} ({}). {}", before.path, about(before), after->path,
                               about(*after), incomparable(before, *after))
                 : about(before));
  page += "<table><tr><th>cell<th>metric<th>before<th>after<th>change<th>p<th>verdict";
  std::vector<Strip> lines;
  for (const CellPair& pair : found.pairs) {
    lines.push_back({"− " + pair.name, pair.before, "before"});
    lines.push_back({"+ " + pair.name, pair.after, "after"});
    for (Metric metric : kMetrics) {
      if (pair.before->of(metric).empty() || pair.after->of(metric).empty()) continue;
      const Comparison c = compareMetric(pair, metric);
      const char* mark = c.verdict == Verdict::Slower   ? " class='worse'"
                         : c.verdict == Verdict::Faster ? " class='better'"
                                                        : "";
      page += fmt::format("<tr{}><td>{}<td>{}<td>{}<td>{}<td>{}<td>{:.2g}<td>{}", mark, htmlText(pair.name),
                          metricName(metric), amountText(metric, pair.before->summary(metric).median),
                          amountText(metric, pair.after->summary(metric).median), changeText(c.ratio), c.p,
                          verdictWord(c.verdict));
    }
  }
  page +=
      "</table><p>Change: after minus before, of the medians. Verdict: the two-sided Mann-Whitney U test, "
      "p &lt; 0.01.";
  if (found.left) page += fmt::format(" {} further pairs are left out.", found.left);
  page += "</p>";
  for (Metric metric : kPlotted) page += strips(lines, metric);
  return page + "</html>\n";
}

} // namespace uopscope
