// Measures the rates of this machine's processor for the time model of kernels (engine/codegen/machine_rates.h).
//
//   const MachineRates r = measureRates(2);     // takes about two seconds; knownPeaks() keeps them
#pragma once
#include "engine/codegen/machine_rates.h"

#include <nlohmann/json.hpp>

namespace uopscope {

/// `threads`: those that kernels are divided over, from 1.
MachineRates measureRates(int threads);
nlohmann::json ratesJson(const MachineRates& rates);
/// Unknown rates where one is missing, as in files of earlier versions.
MachineRates ratesFrom(const nlohmann::json& kept);

} // namespace uopscope
