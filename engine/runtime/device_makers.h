// The constructors of devices. device.cpp has a table of names and constructors. A new device adds a line in
// both files.
//
//   std::shared_ptr<Device> d = makeCpuDevice("CPU:1");
#pragma once
#include "engine/runtime/device.h"

namespace uopscope {

/// Runs kernels on the machine's cores, compiled by LLVM in process, or by the system's clang with
/// CPU_LLVM=0.
std::shared_ptr<Device> makeCpuDevice(const std::string& name);
/// Interprets linear programs one operation at a time and checks every access: the oracle for all devices.
std::shared_ptr<Device> makeRefDevice(const std::string& name);
/// Runs kernels with an OpenCL driver, which the first device opens.
std::shared_ptr<Device> makeOpenClDevice(const std::string& name);
/// Runs kernels with CUDA's driver, which the first device opens.
std::shared_ptr<Device> makeCudaDevice(const std::string& name);
/// Runs kernels with AMD's HIP, which the first device opens.
std::shared_ptr<Device> makeAmdDevice(const std::string& name);
/// Runs kernels with wgpu-native, which the first device opens.
std::shared_ptr<Device> makeWebGpuDevice(const std::string& name);
/// Compiles as CPU does and runs nothing: for measuring compilation and reading code.
std::shared_ptr<Device> makeNullDevice(const std::string& name);
/// Holds files as memory and computes nothing (mapped_file.h).
std::shared_ptr<Device> makeFileDevice(const std::string& name);

} // namespace uopscope
