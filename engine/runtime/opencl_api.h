// The functions of OpenCL that the device calls. They are looked up at run time and nothing is linked, so one
// binary runs with and without a driver. Types are those of the C interface (3.0), whose numbers never
// change.
//
//   const opencl::Api& cl = opencl::api();                    // throws Error(Device) that names the package
//   opencl::check(cl.finish(queue), "clFinish", "device CL"); // throws Error(Runtime) naming the error
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace uopscope::opencl {

/// cl_platform_id, cl_device_id, cl_context, cl_mem ...: pointers for the driver alone.
using Object = void*;
using Int = int32_t;
using UInt = uint32_t;
using Bits = uint64_t;

struct Api {
  Int (*getPlatformIds)(UInt, Object*, UInt*);
  Int (*getPlatformInfo)(Object, UInt, size_t, void*, size_t*);
  Int (*getDeviceIds)(Object, Bits, UInt, Object*, UInt*);
  Int (*getDeviceInfo)(Object, UInt, size_t, void*, size_t*);
  Object (*createContext)(const intptr_t*, UInt, const Object*, void*, void*, Int*);
  Object (*createCommandQueue)(Object, Object, Bits, Int*);
  Object (*createBuffer)(Object, Bits, size_t, void*, Int*);
  Object (*createSubBuffer)(Object, Bits, UInt, const void*, Int*);
  Int (*releaseMemObject)(Object);
  Object (*createProgramWithSource)(Object, UInt, const char* const*, const size_t*, Int*);
  Int (*buildProgram)(Object, UInt, const Object*, const char*, void*, void*);
  Int (*getProgramInfo)(Object, UInt, size_t, void*, size_t*);
  Int (*getProgramBuildInfo)(Object, Object, UInt, size_t, void*, size_t*);
  Int (*releaseProgram)(Object);
  Object (*createKernel)(Object, const char*, Int*);
  Int (*setKernelArg)(Object, UInt, size_t, const void*);
  Int (*releaseKernel)(Object);
  Int (*enqueueNdRangeKernel)(Object, Object, UInt, const size_t*, const size_t*, const size_t*, UInt,
                              const Object*, Object*);
  Int (*enqueueReadBuffer)(Object, Object, UInt, size_t, size_t, void*, UInt, const Object*, Object*);
  Int (*enqueueWriteBuffer)(Object, Object, UInt, size_t, size_t, const void*, UInt, const Object*, Object*);
  Int (*enqueueCopyBuffer)(Object, Object, Object, size_t, size_t, size_t, UInt, const Object*, Object*);
  Int (*waitForEvents)(UInt, const Object*);
  Int (*getEventProfilingInfo)(Object, UInt, size_t, void*, size_t*);
  Int (*releaseEvent)(Object);
  Int (*flush)(Object);
  Int (*finish)(Object);
};

constexpr UInt kPlatformName = 0x0902, kDeviceName = 0x102B, kDriverVersion = 0x102D,
               kDeviceExtensions = 0x1030, kDeviceMaxWorkGroupSize = 0x1004, kDeviceMaxWorkItemSizes = 0x1005,
               kDeviceMemBaseAddrAlign = 0x1019, kDeviceSingleFpConfig = 0x101B,
               kDeviceGlobalMemSize = 0x101F, kDeviceLocalMemSize = 0x1023, kDeviceMaxMemAllocSize = 0x1010,
               kProgramBinarySizes = 0x1165, kProgramBinaries = 0x1166, kProgramBuildLog = 0x1183,
               kBufferCreateTypeRegion = 0x1220, kProfilingCommandStart = 0x1282,
               kProfilingCommandEnd = 0x1283;
constexpr Bits kDeviceTypeGpu = 4, kDeviceTypeAll = 0xFFFFFFFF, kQueueProfilingEnable = 2, kMemReadWrite = 1,
               kFpCorrectlyRoundedDivideSqrt = 128;
constexpr Int kPlatformNotFound = -1001;

/// The library, opened at first use. Throws Error(Device) if there is none.
const Api& api();
/// "CL_OUT_OF_RESOURCES (-5)".
std::string statusName(Int status);
/// Throws Error(Runtime): "kernel E_4 on CL: clFinish: CL_OUT_OF_RESOURCES (-5)".
void check(Int status, const char* call, const std::string& where);
/// The GPUs of all platforms; all devices if there is no GPU. Throws Error(Device) if there is no device.
const std::vector<Object>& devices();
/// The answer of clGetDeviceInfo, as text and as a number.
std::string deviceText(Object device, UInt what);
template <typename T>
T deviceValue(Object device, UInt what) {
  T value{};
  check(api().getDeviceInfo(device, what, sizeof value, &value, nullptr), "clGetDeviceInfo", "OpenCL");
  return value;
}

/// An object with the function that releases it.
using Handle = std::unique_ptr<void, Int (*)(Object)>;
inline Handle noHandle() {
  return {nullptr, nullptr};
}

} // namespace uopscope::opencl
