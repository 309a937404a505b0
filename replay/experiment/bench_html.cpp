// Writes the page of an experiment: a table and one strip of dots for each metric.
#include "replay/experiment/bench_html.h"

#include "replay/experiment/statistics.h"
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
pre{overflow:auto;background:#8881;padding:.6rem}
)";

/// One line per cell: a dot for every run, a band for the interval of the median.
std::string strips(const Experiment& e, const std::vector<BenchCell>& cells, Metric metric) {
  constexpr double kLeft = 260, kWidth = 640, kRow = 26;
  double most = 0;
  for (const BenchCell& c : cells)
    for (double v : e.values(c.id, metric)) most = std::max(most, v);
  if (most <= 0) return {};
  auto at = [&](double v) { return kLeft + kWidth * v / most; };
  std::string svg = fmt::format(
      "<h2>{}</h2><svg role='img' width='100%' viewBox='0 0 960 {}'><title>{} of every run</title>",
      metricName(metric), kRow * static_cast<double>(cells.size()) + 30, metricName(metric));
  double y = kRow / 2;
  for (const BenchCell& c : cells) {
    std::vector<double> values = e.values(c.id, metric);
    svg += fmt::format(
        "<text x='0' y='{:.1f}'>{}</text><line class='axis' x1='{}' x2='{}' y1='{:.1f}' y2='{:.1f}'/>", y + 4,
        htmlText(c.name()), kLeft, kLeft + kWidth, y, y);
    if (!values.empty()) {
      Summary s = summarize(values);
      svg += fmt::format("<rect class='band' x='{:.1f}' y='{:.1f}' width='{:.1f}' height='16'/>", at(s.low),
                         y - 8, std::max(1.0, at(s.high) - at(s.low)));
      for (double v : values)
        svg += fmt::format("<circle class='dot' cx='{:.1f}' cy='{:.1f}' r='3.5'><title>{}</title></circle>",
                           at(v), y, amountText(metric, v));
      svg += fmt::format("<line class='median' x1='{0:.1f}' x2='{0:.1f}' y1='{1:.1f}' y2='{2:.1f}'/>",
                         at(s.median), y - 9, y + 9);
    }
    y += kRow;
  }
  svg += fmt::format("<text x='{}' y='{}'>0</text><text x='{}' y='{}' text-anchor='end'>{}</text></svg>",
                     kLeft, y + 6, kLeft + kWidth, y + 6, amountText(metric, most));
  return svg;
}

} // namespace

std::string benchPage(const Experiment& e) {
  const std::vector<BenchCell> cells = e.cells();
  std::string page = fmt::format(
      "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' "
      "content='width=device-width'><title>{0}</title><style>{1}</style><h1>{0}</h1><p>{2}</"
      "p><table><tr><th>cell",
      htmlText(e.meta("script")), kStyle,
      htmlText(fmt::format("{} · {} · {} runs each after {} to warm up, seed {}", e.meta("machine"),
                           e.meta("started"), e.meta("repeat"), e.meta("warmup"), e.meta("seed"))));
  for (Metric metric : kMetrics) page += fmt::format("<th>{}", metricName(metric));
  page += "<th>kernels<th>launches<th>failed";
  for (const BenchCell& c : cells) {
    page += "<tr><td>" + htmlText(c.name());
    for (Metric metric : kMetrics) {
      std::vector<double> values = e.values(c.id, metric);
      if (values.empty()) {
        page += "<td>–";
        continue;
      }
      Summary s = summarize(values);
      page +=
          fmt::format("<td title='mean {}, deviation {}, {} runs'>{}<br><small>{} – {}</small>",
                      amountText(metric, s.mean), amountText(metric, s.deviation), s.count,
                      amountText(metric, s.median), amountText(metric, s.low), amountText(metric, s.high));
    }
    auto counts = e.kernelsAndLaunches(c.id);
    page += counts ? fmt::format("<td>{}<td>{}", counts->first, counts->second) : "<td>–<td>–";
    page += fmt::format("<td>{}", e.failures(c.id).first);
  }
  page += "</table><p>Each cell: the median, and below it the interval that holds it in 95 of 100 "
          "experiments.</p>";
  for (Metric metric : {Metric::Wall, Metric::Kernel, Metric::Compile, Metric::Peak})
    page += strips(e, cells, metric);
  for (const BenchCell& c : cells) {
    auto [failed, output] = e.failures(c.id);
    if (failed)
      page += fmt::format("<h2>{}: {} runs failed</h2><pre>{}</pre>", htmlText(c.name()), failed,
                          htmlText(output));
    for (const BenchKernel& k : e.kernels(c.id))
      page +=
          fmt::format("<details><summary>{}: {} ({} launches, median {})</summary><pre>{}</pre></details>",
                      htmlText(c.name()), htmlText(k.name), k.launches,
                      amountText(Metric::Kernel, static_cast<double>(k.medianNs)), htmlText(k.source));
  }
  return page + "</html>\n";
}

} // namespace uopscope
