// A kernel as a pipeline of WebGPU, and its launches. It is first made for the device that compiled it. A
// launch on memory of a different device ("WEBGPU:1") makes it for that device.
#pragma once
#include "engine/runtime/device.h"
#include "engine/runtime/webgpu_memory.h"

namespace uopscope::webgpu {

/// Throws Error(Compile) with the library's message and the line of the source that it names.
std::shared_ptr<Program> makeProgram(const LoweredKernel& kernel, const std::string& source, Gpu& gpu);

/// Launches in this order, encoded into one command buffer at each replay. The programs are of makeProgram;
/// the memory is of one device.
std::unique_ptr<LaunchBatch> makeBatch(std::span<const BatchedLaunch> launches);

} // namespace uopscope::webgpu
