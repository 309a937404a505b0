// Rows come from the roofline, which knows launches; this file only words them.
#include "app/cli/predicted_columns.h"

#include "engine/base/cpu_count.h"
#include "replay/schema/quantity_text.h"

#include <fmt/format.h>

#include <cmath>

namespace uopscope::cli {

PredictedColumns::PredictedColumns(Trace& trace) {
  const Peaks peaks = knownPeaks(cpuCount());
  if (!isSameMachine(trace, peaks))
    fmt::print(stderr,
               "uopscope: the trace comes from another machine ({}): times are predicted for this one\n",
               trace.meta("machine"));
  const std::vector<RooflineRow> rows = roofline(trace, peaks);
  errors_ = predictionErrors(rows);
  for (const RooflineRow& r : rows) rows_.try_emplace(r.scope, r); // most time first
}

std::array<std::string, 3> PredictedColumns::cells(ScopeId scope) const {
  const auto at = rows_.find(scope);
  if (at == rows_.end() || scope == 0) return {"", "", ""};
  const RooflineRow& r = at->second;
  return {durationText(static_cast<int64_t>(r.seconds * 1e9)),
          r.predicted.seconds > 0 ? durationText(static_cast<int64_t>(r.predicted.seconds * 1e9)) : "-",
          ratioText(r)};
}

void PredictedColumns::addTo(nlohmann::ordered_json& row, ScopeId scope) const {
  const auto at = rows_.find(scope);
  const bool timed = at != rows_.end() && scope != 0;
  const bool known = timed && at->second.predicted.seconds > 0;
  using Json = nlohmann::ordered_json;
  row["measured_seconds"] = timed ? Json(at->second.seconds) : Json();
  row["predicted_seconds"] = known ? Json(at->second.predicted.seconds) : Json();
  row["predicted_of_measured"] = known ? Json(at->second.ratio()) : Json();
  row["parts"] = known ? partsJson(at->second.predicted) : Json();
}

double PredictedColumns::key(ScopeId scope, const std::string& sort) const {
  const auto at = rows_.find(scope);
  if (at == rows_.end() || scope == 0) return -1;
  const RooflineRow& r = at->second;
  if (sort == "measured") return r.seconds;
  if (sort == "predicted") return r.predicted.seconds;
  return r.ratio() > 0 ? std::abs(std::log(r.ratio())) : -1;
}

std::string PredictedColumns::summary() const {
  return errorsText(errors_);
}
nlohmann::ordered_json PredictedColumns::summaryJson() const {
  return errorsJson(errors_);
}

std::string errorsText(const PredictionErrors& e) {
  if (e.kernels == 0)
    return "no kernel has both times: predictions need a trace of tier full with launches on a CPU";
  return fmt::format(
      "predicted / measured of {}: median error {:.0f} %, nine of ten below {:.0f} %, {:.0f} % "
      "within 30 %",
      countedText(static_cast<int64_t>(e.kernels), "kernel"), 100 * e.median, 100 * e.mostOfTen,
      100 * e.within30);
}
std::string ratioText(const RooflineRow& row) {
  return row.predicted.seconds > 0 ? fmt::format("{:.2f}", row.ratio()) : "-";
}

} // namespace uopscope::cli
