// A kernel built by an OpenCL driver, and its launches. It is first built for the device that compiled it. A
// launch on memory of a different device ("CL:1") builds it for that device.
#pragma once
#include "engine/runtime/device.h"
#include "engine/runtime/opencl_memory.h"

namespace uopscope::opencl {

/// Throws Error(Compile) with the driver's message and the line of the source that it names.
std::shared_ptr<Program> makeProgram(const LoweredKernel& kernel, const std::string& source,
                                     QueueOwner& device);

} // namespace uopscope::opencl
