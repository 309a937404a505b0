#include "replay/experiment/roofline.h"

#include <algorithm>
#include <map>

namespace uopscope {

std::vector<RooflineRow> roofline(Trace& trace, const Peaks& peaks, const std::string& device) {
  // One name may stand for several kernels: those that one compilation made, with one amount of work, are a row.
  std::map<std::tuple<ScopeId, std::string, std::string, int64_t, int64_t>, RooflineRow> rows;
  for (const LaunchInfo& l : trace.launches()) {
    if (l.ns <= 0 || l.flops < 0 || l.bytes < 0) continue;
    RooflineRow& r = rows[{l.compiled, l.kernel, l.device, l.flops, l.bytes}];
    const double seconds = static_cast<double>(l.ns) / 1e9;
    r.scope = l.compiled, r.kernel = l.kernel, r.device = l.device;
    r.flops = l.flops, r.bytes = l.bytes;
    r.seconds = r.launches == 0 ? seconds : std::min(r.seconds, seconds);
    r.total += seconds;
    ++r.launches;
  }
  std::vector<RooflineRow> out;
  for (auto& [key, r] : rows) {
    if (peaks.known() && r.device.substr(0, r.device.find(':')) == device && (r.flops > 0 || r.bytes > 0)) {
      const bool cached = peaks.cacheGbPerSecond > 0 && r.bytes <= peaks.cacheBytes;
      const double compute = static_cast<double>(r.flops) / peaks.gflops / 1e9;
      const double moved =
          static_cast<double>(r.bytes) / (cached ? peaks.cacheGbPerSecond : peaks.gbPerSecond) / 1e9;
      r.predicted = std::max(compute, moved);
      r.share = r.predicted / r.seconds;
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
                              {"predicted_seconds", r.predicted},
                              {"share_of_roof", r.share},
                              {"bound", boundName(r.bound)},
                              {"gflops", r.gflops()},
                              {"gb_per_s", r.gbPerSecond()}});
  return out;
}

} // namespace uopscope
