// uopscope roofline TRACE [KERNEL]: each kernel's time beside the time that the model of its program predicts, and the least time
// that the machine's measured peaks allow.
#include "app/cli/output.h"
#include "app/cli/predicted_columns.h"
#include "app/cli/teach_command.h"
#include "engine/base/cpu_count.h"
#include "replay/experiment/roofline.h"
#include "replay/schema/quantity_text.h"

#include <fmt/format.h>

namespace uopscope::cli {

namespace {

Peaks peaksFor(const RooflineArguments& o) {
  if (o.gflops <= 0 && o.gbPerSecond <= 0) return knownPeaks(cpuCount(), o.measure);
  if (o.gflops <= 0 || o.gbPerSecond <= 0)
    throw Error(ErrorKind::Value,
                "--peak-gflops and --peak-gbs belong together: give both, or neither to measure");
  return {.gflops = o.gflops, .gbPerSecond = o.gbPerSecond};
}

} // namespace

int showRoofline(const RooflineArguments& o) {
  Trace trace(o.trace);
  warnAbout(trace);
  const Peaks peaks = peaksFor(o);
  std::vector<RooflineRow> rows = roofline(trace, peaks, o.device);
  if (!o.kernel.empty()) {
    const ScopeId scope = trace.findScope(o.kernel);
    std::erase_if(rows, [&](const RooflineRow& r) { return r.scope != scope; });
  }
  if (rows.empty())
    throw Error(ErrorKind::Key,
                o.kernel.empty()
                    ? fmt::format("{} has no timed launch: record a script that runs its kernels", o.trace)
                    : fmt::format("{} was not launched, or not timed; uopscope stats {} --by launch "
                                  "lists the launches",
                                  o.kernel, o.trace));
  if (!isSameMachine(trace, peaks))
    fmt::print(stderr,
               "uopscope: the trace comes from another machine ({}): the roof is this machine's; give the "
               "other's with "
               "--peak-gflops and --peak-gbs\n",
               trace.meta("machine"));
  if (o.json) {
    printJson(rooflineJson(rows, peaks));
    return kFine;
  }
  fmt::print("{}: {:.0f} GFLOPS, {:.1f} GB/s from memory{}{}\n", o.device, peaks.gflops, peaks.gbPerSecond,
             peaks.cacheGbPerSecond > 0 ? fmt::format(", {:.0f} GB/s from caches of {} kB",
                                                      peaks.cacheGbPerSecond, peaks.cacheBytes >> 10)
                                        : "",
             peaks.machine.empty() ? "" : " (measured)");
  const auto text = [](double seconds) {
    return seconds > 0 ? durationText(static_cast<int64_t>(seconds * 1e9)) : std::string("-");
  };
  Table table({"#", "kernel", "launches", "fastest", "predicted", "ratio", "waits for", "roof", "of roof",
               "bound by", "FLOP/byte", "GFLOPS", "GB/s"});
  for (const RooflineRow& r : rows)
    table.add({fmt::format("{}", r.scope), r.kernel, countText(r.launches), text(r.seconds),
               text(r.predicted.seconds), ratioText(r),
               r.predicted.seconds > 0 ? std::string(timePartName(r.predicted.bound())) : "-", text(r.roof),
               r.roof > 0 ? fmt::format("{:.0f}%", 100 * r.share) : "-",
               r.roof > 0 ? std::string(boundName(r.bound)) : "-", fmt::format("{:.2f}", r.intensity()),
               fmt::format("{:.1f}", r.gflops()), fmt::format("{:.1f}", r.gbPerSecond())});
  table.print();
  if (!peaks.rates.known()) return kFine; // peaks by hand predict nothing
  fmt::print("{}\n", errorsText(predictionErrors(rows)));
  if (o.kernel.empty()) return kFine;
  for (const RooflineRow& r : rows) {
    fmt::print("{}, {} for each part alone:\n", r.kernel, countedText(r.predicted.threads, "thread"));
    for (size_t i = 0; i < kTimeParts; ++i)
      fmt::print("  {:12} {}\n", timePartName(static_cast<TimePart>(i)), text(r.predicted.parts[i]));
  }
  return kFine;
}

} // namespace uopscope::cli
