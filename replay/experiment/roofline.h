// The roofline of a trace: each kernel's measured time beside the least time that the machine's peaks allow.
//
//   for (const RooflineRow& r : roofline(trace, knownPeaks(2)))
//     print(r.kernel, r.seconds, r.roof, r.share, r.bound);     // "r_8_8_32_48", 12e-6, 9e-6, 0.75, Compute
//
// The least time is the longer one of arithmetic at its peak and bytes at theirs. Bytes are those that the kernel has to
// read and write once; kernels whose bytes fit the caches are held against the bandwidth of the second cache. Beside it stands the
// time that the model of the program predicts (predicted.h), which is no bound.
#pragma once
#include "replay/experiment/peaks.h"
#include "replay/experiment/predicted.h"
#include "replay/read/trace.h"

#include <nlohmann/json.hpp>

namespace uopscope {

enum class RooflineBound : uint8_t { Compute, Memory, Cache, Unknown };

struct RooflineRow {
  ScopeId scope = 0; ///< of the kernel's compilation; 0: not in this trace
  std::string kernel, device;
  int64_t launches = 0, flops = 0, bytes = 0; ///< of one launch
  double seconds = 0;                         ///< the fastest launch
  double total = 0;                           ///< of all launches, seconds
  double roof = 0;                            ///< seconds, the least; 0: no peaks of this device
  double share = 0;                           ///< roof / measured: 1 is the roof
  PredictedTime predicted = {};               ///< of the fastest launch
  LaunchState state = {};                     ///< of that launch
  RooflineBound bound = RooflineBound::Unknown;
  double intensity() const { return bytes ? static_cast<double>(flops) / static_cast<double>(bytes) : 0; }
  /// Predicted / measured; 0 where there is no prediction.
  double ratio() const { return seconds > 0 ? predicted.seconds / seconds : 0; }
  double gflops() const { return seconds > 0 ? static_cast<double>(flops) / seconds / 1e9 : 0; }
  double gbPerSecond() const { return seconds > 0 ? static_cast<double>(bytes) / seconds / 1e9 : 0; }
};

/// Kernels that were timed, most time first. Peaks hold for device `device` ("CPU") only.
std::vector<RooflineRow> roofline(Trace& trace, const Peaks& peaks, const std::string& device = "CPU");
/// The errors of the rows that have a prediction.
PredictionErrors predictionErrors(const std::vector<RooflineRow>& rows);
/// Whether the trace was recorded on the machine of the peaks.
bool isSameMachine(const Trace& trace, const Peaks& peaks);
std::string_view boundName(RooflineBound bound); ///< "compute", "memory", "cache", ""
nlohmann::ordered_json errorsJson(const PredictionErrors& errors);
/// A prediction's parts, in seconds: {"arithmetic": 1e-6, ...}.
nlohmann::ordered_json partsJson(const PredictedTime& predicted);
nlohmann::ordered_json rooflineJson(const std::vector<RooflineRow>& rows, const Peaks& peaks);

} // namespace uopscope
