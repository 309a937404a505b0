// The columns of `uopscope ls TRACE --predicted`: each kernel's fastest launch beside the time that the model of its program
// predicts, and the ratio of both.
//
//   PredictedColumns columns(trace);
//   columns.cells(scope);        // {"12.4 us", "11.0 us", "0.89"}; dashes where a kernel was not timed
//   columns.summary();           // "predicted / measured of 41 kernels: ..."
#pragma once
#include "replay/experiment/roofline.h"

#include <array>

namespace uopscope::cli {

class PredictedColumns {
public:
  /// Reads the launches, and measures the machine where that has not been done.
  explicit PredictedColumns(Trace& trace);
  static std::array<std::string, 3> header() { return {"measured", "predicted", "ratio"}; }
  std::array<std::string, 3> cells(ScopeId scope) const;
  /// measured_seconds, predicted_seconds, predicted_of_measured and parts; null where unknown.
  void addTo(nlohmann::ordered_json& row, ScopeId scope) const;
  /// The larger, the earlier: "measured", "predicted", or "ratio", where the farthest from 1 comes first.
  double key(ScopeId scope, const std::string& sort) const;
  nlohmann::ordered_json summaryJson() const;
  std::string summary() const;

private:
  std::map<ScopeId, RooflineRow> rows_; ///< of a kernel with several kinds of launches the one with most time
  PredictionErrors errors_;
};

/// "predicted / measured of 41 kernels: median error 18 %, nine of ten below 61 %, 71 % within 30 %".
std::string errorsText(const PredictionErrors& errors);
/// "-" where there is no prediction.
std::string ratioText(const RooflineRow& row);

} // namespace uopscope::cli
