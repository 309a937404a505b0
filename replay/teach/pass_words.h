// One sentence for people about each pass, by its name: those of kernels from the table that drives them,
// those of schedules and the Opts from here.
//
//   aboutPass("devectorize")  ->  "vectors take the widths that the target loads, stores and computes with"
#pragma once
#include <string_view>

namespace uopscope {

/// Empty for a pass that a script named.
std::string_view aboutPass(std::string_view name);
/// UPCAST, SWAP ...: an optimisation that was chosen, not a pass that always runs.
bool isOpt(std::string_view name);

} // namespace uopscope
