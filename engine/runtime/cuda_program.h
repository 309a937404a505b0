// A CUDA kernel and its launches. It is compiled once, and loaded into the context of each device whose
// memory it is launched on.
#pragma once
#include "engine/runtime/cuda_compiler.h"
#include "engine/runtime/cuda_memory.h"
#include "engine/runtime/launch_batch.h"

#include <memory>
#include <span>

namespace uopscope::cuda {

/// Throws Error(Compile) as compile() does, and if the device cannot run blocks of the kernel's size.
std::shared_ptr<Program> makeProgram(const LoweredKernel& kernel, const std::string& source, Gpu& gpu);
/// A graph of the driver. Every program in it must come from makeProgram.
std::unique_ptr<LaunchBatch> makeBatch(Gpu& gpu, std::span<const BatchedLaunch> launches);

} // namespace uopscope::cuda
