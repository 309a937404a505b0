// The machine a trace or an experiment comes from, in one line.
//
//   machineText()  ->  "Linux 6.1 x86_64; AMD EPYC 7B13, 2 cores; 24 GB"
#pragma once
#include <string>

namespace uopscope {

/// System, processor and cores, memory.
std::string machineText();

} // namespace uopscope
