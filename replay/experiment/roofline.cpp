#include "replay/experiment/roofline.h"

#include <algorithm>
#include <map>

namespace uopscope {

std::vector<RooflineRow> roofline(Trace& trace, const Peaks& peaks, const std::string& device) {
  // One name may stand for several kernels: those that one compilation made, with one amount of work, are a row.
  std::map<std::tuple<ScopeId, std::string, std::string, int64_t, int64_t>, RooflineRow> rows;
  CacheHistory history(trace);
  for (const LaunchInfo& l : trace.launches()) {
    const LaunchState state = history.before(l);
    if (l.ns <= 0 || l.flops < 0 || l.bytes < 0) continue;
    RooflineRow& r = rows[{l.compiled, l.kernel, l.device, l.flops, l.bytes}];
    const double seconds = static_cast<double>(l.ns) / 1e9;
    r.scope = l.compiled, r.kernel = l.kernel, r.device = l.device;
    r.flops = l.flops, r.bytes = l.bytes;
    if (r.launches == 0 || seconds < r.seconds) r.seconds = seconds, r.state = state;
    r.total += seconds;
    ++r.launches;
  }
  std::vector<RooflineRow> out;
  for (auto& [key, r] : rows) {
    const bool here = r.device.substr(0, r.device.find(':')) == device;
    r.state.fastestOf = r.launches;
    if (here) r.predicted = predictedTime(trace, r.scope, peaks.rates, r.state, r.flops);
    if (peaks.known() && here && (r.flops > 0 || r.bytes > 0)) {
      const bool cached = peaks.cacheGbPerSecond > 0 && r.bytes <= peaks.cacheBytes;
      const double compute = static_cast<double>(r.flops) / peaks.gflops / 1e9;
      const double moved =
          static_cast<double>(r.bytes) / (cached ? peaks.cacheGbPerSecond : peaks.gbPerSecond) / 1e9;
      r.roof = std::max(compute, moved);
      r.share = r.roof / r.seconds;
      r.bound = compute >= moved ? RooflineBound::Compute
                : cached         ? RooflineBound::Cache
                                 : RooflineBound::Memory;
    }
    out.push_back(std::move(r));
  }
  std::ranges::stable_sort(out, std::greater(), &RooflineRow::total);
  return out;
}

bool isSameMachine(const Trace& trace, const Peaks& peaks) {
  return peaks.machine.empty() || trace.meta("machine").empty() || trace.meta("machine") == peaks.machine;
}

std::string_view boundName(RooflineBound bound) {
  switch (bound) {
  case RooflineBound::Compute: return "compute";
  case RooflineBound::Memory: return "memory";
  case RooflineBound::Cache: return "cache";
  case RooflineBound::Unknown: break;
  }
  return {};
}

PredictionErrors predictionErrors(const std::vector<RooflineRow>& rows) {
  std::vector<double> ratios;
  for (const RooflineRow& r : rows)
    if (r.predicted.seconds > 0) ratios.push_back(r.ratio());
  return predictionErrors(std::move(ratios));
}

nlohmann::ordered_json errorsJson(const PredictionErrors& e) {
  return {{"kernels", e.kernels},
          {"median_error", e.median},
          {"error_of_nine_in_ten", e.mostOfTen},
          {"within_30_percent", e.within30}};
}

nlohmann::ordered_json partsJson(const PredictedTime& predicted) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (size_t i = 0; i < kTimeParts; ++i)
    out[std::string(timePartName(static_cast<TimePart>(i)))] = predicted.parts[i];
  return out;
}

nlohmann::ordered_json rooflineJson(const std::vector<RooflineRow>& rows, const Peaks& peaks) {
  nlohmann::ordered_json out{{"peaks",
                              {{"gflops", peaks.gflops},
                               {"gb_per_s", peaks.gbPerSecond},
                               {"cache_gb_per_s", peaks.cacheGbPerSecond},
                               {"cache_bytes", peaks.cacheBytes},
                               {"machine", peaks.machine}}}};
  out["kernels"] = nlohmann::ordered_json::array();
  for (const RooflineRow& r : rows)
    out["kernels"].push_back({{"scope", r.scope},
                              {"kernel", r.kernel},
                              {"device", r.device},
                              {"launches", r.launches},
                              {"flops", r.flops},
                              {"bytes", r.bytes},
                              {"flops_per_byte", r.intensity()},
                              {"seconds", r.seconds},
                              {"total_seconds", r.total},
                              {"roof_seconds", r.roof},
                              {"share_of_roof", r.share},
                              {"bound", boundName(r.bound)},
                              {"gflops", r.gflops()},
                              {"gb_per_s", r.gbPerSecond()},
                              {"predicted_seconds", r.predicted.seconds},
                              {"predicted_of_measured", r.ratio()},
                              {"threads", r.predicted.threads},
                              {"asleep", r.state.asleep},
                              {"since_code", r.state.newCode ? -1 : r.state.sinceCode},
                              {"new_bytes", r.state.newBytes + r.state.newLargeBytes},
                              {"parts", partsJson(r.predicted)}});
  out["prediction"] = errorsJson(predictionErrors(rows));
  return out;
}

} // namespace uopscope
