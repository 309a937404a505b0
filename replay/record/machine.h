// Describes the machine of a trace or an experiment in one line.
//
//   machineText()  ->  "Linux 6.1 x86_64; AMD EPYC 7B13, 2 cores; 24 GB"
#pragma once
#include <string>

namespace uopscope {

/// System, processor with its cores, and memory.
std::string machineText();

} // namespace uopscope
