// Writes an experiment, or the comparison of two, as one HTML page: a table, and for each metric a strip with
// every run per cell, so that spread and outliers are visible. All text from the files is escaped; the page
// loads nothing.
#pragma once
#include "replay/experiment/measured.h"

namespace uopscope {

std::string benchPage(const Measured& experiment);
/// `after`: null where the pairs are cells of one experiment.
std::string comparisonPage(const Measured& before, const Measured* after, const CellPairs& pairs);

} // namespace uopscope
