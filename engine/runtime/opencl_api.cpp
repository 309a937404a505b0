// Opens the loader of OpenCL drivers (libOpenCL.so.1), names its errors, and lists its devices.
#include "engine/runtime/opencl_api.h"

#include "engine/base/error.h"
#include "engine/runtime/loaded_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace uopscope::opencl {

namespace {

constexpr const char* kDrivers =
    "a driver (Debian: pocl-opencl-icd runs on the CPU, nvidia-opencl-icd, intel-opencl-icd and "
    "mesa-opencl-icd on GPUs)";

Api openOpenCl() {
  void* library = nullptr;
  for (const char* name :
       {"libOpenCL.so.1", "libOpenCL.so", "/System/Library/Frameworks/OpenCL.framework/OpenCL"})
    if ((library = dlopen(name, RTLD_NOW | RTLD_LOCAL))) break;
  if (!library)
    throw Error(ErrorKind::Device,
                fmt::format("there is no OpenCL on this machine: libOpenCL.so.1 is missing. Install "
                            "ocl-icd-libopencl1 and {}",
                            kDrivers));
  const LibraryFunctions opencl{library, "the OpenCL library",
                                "it is older than OpenCL 1.2; update the package ocl-icd-libopencl1"};
  Api a{};
  opencl.take(a.getPlatformIds, "clGetPlatformIDs");
  opencl.take(a.getPlatformInfo, "clGetPlatformInfo");
  opencl.take(a.getDeviceIds, "clGetDeviceIDs");
  opencl.take(a.getDeviceInfo, "clGetDeviceInfo");
  opencl.take(a.createContext, "clCreateContext");
  opencl.take(a.createCommandQueue, "clCreateCommandQueue");
  opencl.take(a.createBuffer, "clCreateBuffer");
  opencl.take(a.createSubBuffer, "clCreateSubBuffer");
  opencl.take(a.releaseMemObject, "clReleaseMemObject");
  opencl.take(a.createProgramWithSource, "clCreateProgramWithSource");
  opencl.take(a.buildProgram, "clBuildProgram");
  opencl.take(a.getProgramInfo, "clGetProgramInfo");
  opencl.take(a.getProgramBuildInfo, "clGetProgramBuildInfo");
  opencl.take(a.releaseProgram, "clReleaseProgram");
  opencl.take(a.createKernel, "clCreateKernel");
  opencl.take(a.setKernelArg, "clSetKernelArg");
  opencl.take(a.releaseKernel, "clReleaseKernel");
  opencl.take(a.enqueueNdRangeKernel, "clEnqueueNDRangeKernel");
  opencl.take(a.enqueueReadBuffer, "clEnqueueReadBuffer");
  opencl.take(a.enqueueWriteBuffer, "clEnqueueWriteBuffer");
  opencl.take(a.enqueueCopyBuffer, "clEnqueueCopyBuffer");
  opencl.take(a.waitForEvents, "clWaitForEvents");
  opencl.take(a.getEventProfilingInfo, "clGetEventProfilingInfo");
  opencl.take(a.releaseEvent, "clReleaseEvent");
  opencl.take(a.flush, "clFlush");
  opencl.take(a.finish, "clFinish");
  return a;
}

std::vector<Object> devicesOf(const std::vector<Object>& platforms, Bits kind) {
  std::vector<Object> all;
  for (Object platform : platforms) {
    UInt n = 0;
    if (api().getDeviceIds(platform, kind, 0, nullptr, &n) != 0 || n == 0) continue; // no such device
    std::vector<Object> some(n);
    check(api().getDeviceIds(platform, kind, n, some.data(), nullptr), "clGetDeviceIDs", "OpenCL");
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

} // namespace

const Api& api() {
  static const Api a = openOpenCl();
  return a;
}

std::string statusName(Int status) {
  struct Code {
    Int value;
    const char* name;
  };
  static constexpr Code kCodes[] = {{-1, "DEVICE_NOT_FOUND"},
                                    {-2, "DEVICE_NOT_AVAILABLE"},
                                    {-3, "COMPILER_NOT_AVAILABLE"},
                                    {-4, "MEM_OBJECT_ALLOCATION_FAILURE"},
                                    {-5, "OUT_OF_RESOURCES"},
                                    {-6, "OUT_OF_HOST_MEMORY"},
                                    {-11, "BUILD_PROGRAM_FAILURE"},
                                    {-13, "MISALIGNED_SUB_BUFFER_OFFSET"},
                                    {-14, "EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
                                    {-30, "INVALID_VALUE"},
                                    {-33, "INVALID_DEVICE"},
                                    {-34, "INVALID_CONTEXT"},
                                    {-36, "INVALID_COMMAND_QUEUE"},
                                    {-38, "INVALID_MEM_OBJECT"},
                                    {-42, "INVALID_BINARY"},
                                    {-43, "INVALID_BUILD_OPTIONS"},
                                    {-44, "INVALID_PROGRAM"},
                                    {-45, "INVALID_PROGRAM_EXECUTABLE"},
                                    {-46, "INVALID_KERNEL_NAME"},
                                    {-47, "INVALID_KERNEL_DEFINITION"},
                                    {-48, "INVALID_KERNEL"},
                                    {-49, "INVALID_ARG_INDEX"},
                                    {-50, "INVALID_ARG_VALUE"},
                                    {-51, "INVALID_ARG_SIZE"},
                                    {-52, "INVALID_KERNEL_ARGS"},
                                    {-53, "INVALID_WORK_DIMENSION"},
                                    {-54, "INVALID_WORK_GROUP_SIZE"},
                                    {-55, "INVALID_WORK_ITEM_SIZE"},
                                    {-59, "INVALID_OPERATION"},
                                    {-61, "INVALID_BUFFER_SIZE"},
                                    {-63, "INVALID_GLOBAL_WORK_SIZE"},
                                    {kPlatformNotFound, "PLATFORM_NOT_FOUND_KHR"}};
  for (const Code& c : kCodes)
    if (c.value == status) return fmt::format("CL_{} ({})", c.name, status);
  return fmt::format("status {}", status);
}

void check(Int status, const char* call, const std::string& where) {
  if (status != 0)
    throw Error(ErrorKind::Runtime, fmt::format("{}: {}: {}", where, call, statusName(status)));
}

const std::vector<Object>& devices() {
  static const std::vector<Object> found = [] {
    UInt n = 0;
    Int status = api().getPlatformIds(0, nullptr, &n);
    if (status != 0 && status != kPlatformNotFound) check(status, "clGetPlatformIDs", "OpenCL");
    if (n == 0)
      throw Error(ErrorKind::Device,
                  fmt::format("OpenCL has no driver on this machine: install {}", kDrivers));
    std::vector<Object> platforms(n);
    check(api().getPlatformIds(n, platforms.data(), nullptr), "clGetPlatformIDs", "OpenCL");
    std::vector<Object> all = devicesOf(platforms, kDeviceTypeGpu);
    if (all.empty()) all = devicesOf(platforms, kDeviceTypeAll);
    if (all.empty())
      throw Error(ErrorKind::Device,
                  fmt::format("the OpenCL drivers of this machine find no device: install {}", kDrivers));
    return all;
  }();
  return found;
}

std::string deviceText(Object device, UInt what) {
  size_t bytes = 0;
  check(api().getDeviceInfo(device, what, 0, nullptr, &bytes), "clGetDeviceInfo", "OpenCL");
  std::string text(bytes, '\0');
  check(api().getDeviceInfo(device, what, bytes, text.data(), nullptr), "clGetDeviceInfo", "OpenCL");
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

} // namespace uopscope::opencl
