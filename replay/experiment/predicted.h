// The predicted time of a kernel of a trace: its linear program, made again from the recording, priced by the engine's model
// (engine/codegen/time_model.h) for this machine's measured rates.
//
//   const PredictedTime t = predictedTime(trace, kernel, knownPeaks(2).rates, {.first = true});
//
// A trace of tier stats has no programs, and kernels of GPUs have no model: seconds is 0 there.
#pragma once
#include "engine/codegen/time_model.h"
#include "replay/read/trace.h"

#include <map>

namespace uopscope {

/// `flops`: of the launch, which tells the values of variables; below 0: those that give most work.
PredictedTime predictedTime(Trace& trace, ScopeId kernel, const MachineRates& rates, LaunchState state = {},
                            int64_t flops = -1);

/// Follows the launches of a trace, each once and in order, and says what the caches had seen before each of them.
class CacheHistory {
public:
  explicit CacheHistory(Trace& trace);
  LaunchState before(const LaunchInfo& launch);

private:
  std::map<int64_t, BufferInfo> buffers_;
  std::map<int64_t, int64_t> touched_; ///< by buffer that owns its memory: bytes from its beginning on
  std::map<std::pair<int64_t, int64_t>, double>
      lastUsed_; ///< by owner and offset: bytes that had passed then
  std::map<std::pair<ScopeId, std::string>, double> lastRun_;
  std::map<ScopeId, int64_t> madeNs_;
  double passed_ = 0;
  int64_t endNs_ = 0;
};

/// How far predictions are from measurements: |predicted / measured - 1|, of kernels that have both.
struct PredictionErrors {
  size_t kernels = 0;
  double median = 0, mostOfTen = 0; ///< mostOfTen: nine of ten kernels have less
  double within30 = 0;              ///< part of the kernels with an error of at most 0.3
};
PredictionErrors predictionErrors(std::vector<double> ratios);

} // namespace uopscope
