// uopscope stats --by phase and --by launch: show where a recorded run spent its time, and the speed of its
// kernels.
#include "app/cli/output.h"
#include "replay/schema/quantity_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope::cli {

int phaseStats(const LookOptions& o) {
  Trace trace(o.trace);
  warnAbout(trace);
  std::vector<PhaseTotal> totals = trace.phaseTotals();
  int64_t all = 0;
  for (const PhaseTotal& t : totals) all += t.ns;
  auto cost = [&](const char* key) { return std::strtoll(trace.meta(key).c_str(), nullptr, 10); };
  if (o.json) {
    Json out{{"phases", Json::array()},
             {"recording",
              {{"observing_ns", cost("time.observing_ns")},
               {"waited_ns", cost("time.waited_ns")},
               {"writer_ns", cost("time.writer_ns")}}}};
    for (const PhaseTotal& t : totals)
      out["phases"].push_back(Json{{"phase", t.name}, {"times", t.times}, {"total_ns", t.ns}});
    printJson(out);
    return kFine;
  }
  Table table({"phase", "times", "time", "share"});
  for (const PhaseTotal& t : totals)
    table.add(
        {t.name, countText(t.times), durationText(t.ns),
         fmt::format("{:.1f}%", all ? 100.0 * static_cast<double>(t.ns) / static_cast<double>(all) : 0)});
  table.print();
  if (!trace.meta("time.writer_ns").empty())
    fmt::print("recording took {} of the compiling threads, {} of waiting, {} of the writer's thread\n",
               durationText(cost("time.observing_ns")), durationText(cost("time.waited_ns")),
               durationText(cost("time.writer_ns")));
  return kFine;
}

int launchStats(const LookOptions& o) {
  Trace trace(o.trace);
  warnAbout(trace);
  struct Line {
    std::string kernel, device;
    int64_t launches = 0, ns = 0, least = INT64_MAX, flops = 0, bytes = 0;
  };
  std::map<std::pair<std::string, std::string>, Line> byKernel;
  for (const LaunchInfo& l : trace.launches()) {
    if (!o.name.empty() && l.kernel.find(o.name) == std::string::npos) continue;
    Line& line = byKernel[{l.kernel, l.device}];
    line.kernel = l.kernel;
    line.device = l.device;
    ++line.launches;
    line.ns += l.ns;
    line.flops += l.flops;
    line.bytes += l.bytes;
    if (l.ns) line.least = std::min(line.least, l.ns);
  }
  std::vector<Line> lines;
  for (auto& [key, line] : byKernel) lines.push_back(std::move(line));
  std::ranges::stable_sort(lines, [&](const Line& a, const Line& b) {
    return o.sort == "name" ? a.kernel < b.kernel : a.ns > b.ns;
  });
  auto rate = [](int64_t amount, int64_t ns) {
    return ns ? static_cast<double>(amount) / static_cast<double>(ns) : 0;
  };
  size_t limit = o.limit > 0 ? std::min(lines.size(), static_cast<size_t>(o.limit)) : lines.size();
  if (o.json) {
    Json out = Json::array();
    for (const Line& l : lines)
      out.push_back(Json{{"kernel", l.kernel},
                         {"device", l.device},
                         {"launches", l.launches},
                         {"total_ns", l.ns},
                         {"least_ns", l.least == INT64_MAX ? 0 : l.least},
                         {"gflops", rate(l.flops, l.ns)},
                         {"gb_per_s", rate(l.bytes, l.ns)}});
    printJson(out);
    return kFine;
  }
  Table table({"kernel", "device", "launches", "time", "least", "GFLOPS", "GB/s"});
  for (size_t k = 0; k < limit; ++k) {
    const Line& l = lines[k];
    table.add({l.kernel, l.device, countText(l.launches), durationText(l.ns),
               l.least == INT64_MAX ? "" : durationText(l.least), fmt::format("{:.2f}", rate(l.flops, l.ns)),
               fmt::format("{:.2f}", rate(l.bytes, l.ns))});
  }
  table.print();
  if (limit < lines.size()) fmt::print("{} of {} shown; --limit 0 shows all\n", limit, lines.size());
  return kFine;
}

} // namespace uopscope::cli
