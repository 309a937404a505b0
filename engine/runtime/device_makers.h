// The makers of devices: device.cpp knows a name and how to open it. A new device adds a line here and one
// there.
#pragma once
#include "engine/runtime/device.h"

namespace uopscope {

/// Runs kernels on the machine's cores: LLVM in process, or the system's clang with CPU_LLVM=0.
std::shared_ptr<Device> makeCpuDevice(std::string name);
/// Interprets linear programs one operation at a time, checking every access: the oracle for other devices.
std::shared_ptr<Device> makeRefDevice(std::string name);
/// Runs kernels by an OpenCL driver, which is opened with the first device.
std::shared_ptr<Device> makeOpenClDevice(std::string name);
/// Runs kernels by CUDA's driver, which is opened with the first device.
std::shared_ptr<Device> makeCudaDevice(std::string name);
/// Compiles as CPU does and runs nothing: for measuring and for looking at code.
std::shared_ptr<Device> makeNullDevice(std::string name);
/// Holds files as memory and computes nothing (mapped_file.h).
std::shared_ptr<Device> makeFileDevice(std::string name);

} // namespace uopscope
