// A kernel built by an OpenCL driver, and its launches. It is built for the device that compiled it; where it
// is launched on memory of another ("CL:1"), it is built for that one then.
#pragma once
#include "engine/runtime/device.h"
#include "engine/runtime/opencl_memory.h"

namespace uopscope::opencl {

/// Throws Error(Compile) with the driver's words and the line they speak of.
std::shared_ptr<Program> makeProgram(const LoweredKernel& kernel, const std::string& source,
                                     QueueOwner& device);

} // namespace uopscope::opencl
