// Writes a stored kernel as a separate program that runs on made-up data and checks itself against the
// reference interpreter.
//
//   std::string py = reproducerPython(compilation, "r_16_16 of before.uopcorpus");
#pragma once
#include "replay/record/capture.h"

namespace uopscope {

/// A Python script that builds the kernel's graph with UOp calls, runs it by Tensor.custom_kernel on two
/// devices and compares the results.
std::string reproducerPython(const Compilation& kernel, const std::string& from);
/// A doctest that reads the graph, compiles it for its device and for REF, and compares the results.
std::string reproducerCpp(const Compilation& kernel, const std::string& from);

} // namespace uopscope
