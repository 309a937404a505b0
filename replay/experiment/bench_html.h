// Writes an experiment as one HTML page: a table of the matrix and, for each metric, a strip with every run
// per cell, so that spread and outliers are visible. All text from the file is escaped; the page loads
// nothing.
#pragma once
#include "replay/experiment/experiment.h"

namespace uopscope {

std::string benchPage(const Experiment& experiment);

} // namespace uopscope
