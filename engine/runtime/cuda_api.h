// The functions of CUDA's driver that the device calls. They are looked up at run time and nothing is linked,
// so one binary runs with and without a driver. Types are those of the C interface, whose numbers never
// change.
//
//   const cuda::Api& cu = cuda::api();                         // throws Error(Device) that names the package
//   cuda::check(cu.streamSynchronize(stream), "cuStreamSynchronize", "device CUDA");
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace uopscope::cuda {

/// CUcontext, CUstream, CUmodule, CUfunction, CUevent, CUgraph ...: pointers for the driver alone.
using Object = void*;
using Status = int;
/// CUdeviceptr: an address on the device.
using Address = unsigned long long;

/// CUDA_KERNEL_NODE_PARAMS_v2.
struct KernelNode {
  Object function = nullptr;
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, sharedBytes = 0;
  void** parameters = nullptr;
  void** extra = nullptr;
  Object kernel = nullptr, context = nullptr;
};

struct Api {
  Status (*init)(unsigned);
  Status (*getErrorName)(Status, const char**);
  Status (*getErrorString)(Status, const char**);
  Status (*deviceGetCount)(int*);
  Status (*deviceGet)(int*, int);
  Status (*deviceGetName)(char*, int, int);
  Status (*deviceGetAttribute)(int*, int, int);
  Status (*deviceTotalMem)(size_t*, int);
  Status (*primaryContextRetain)(Object*, int);
  Status (*contextSetCurrent)(Object);
  Status (*memAlloc)(Address*, size_t);
  Status (*memFree)(Address);
  Status (*memcpyToDevice)(Address, const void*, size_t, Object);
  Status (*memcpyToHost)(void*, Address, size_t, Object);
  Status (*memcpyPeer)(Address, Object, Address, Object, size_t, Object);
  Status (*streamCreate)(Object*, unsigned);
  Status (*streamSynchronize)(Object);
  Status (*eventCreate)(Object*, unsigned);
  Status (*eventRecord)(Object, Object);
  Status (*eventSynchronize)(Object);
  Status (*eventElapsedTime)(float*, Object, Object);
  Status (*moduleLoadData)(Object*, const void*);
  Status (*moduleUnload)(Object);
  Status (*moduleGetFunction)(Object*, Object, const char*);
  Status (*functionGetAttribute)(int*, int, Object);
  Status (*launchKernel)(Object, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Object,
                         void**, void**);
  Status (*graphCreate)(Object*, unsigned);
  Status (*graphDestroy)(Object);
  Status (*graphAddKernelNode)(Object*, Object, const Object*, size_t, const KernelNode*);
  Status (*graphInstantiate)(Object*, Object, unsigned long long);
  Status (*graphSetKernelNode)(Object, Object, const KernelNode*);
  Status (*graphLaunch)(Object, Object);
  Status (*graphExecDestroy)(Object);
};

constexpr int kMaxThreadsPerBlock = 1, kMaxBlockDimX = 2, kMaxGridDimX = 5, kMaxSharedPerBlock = 8,
              kCapabilityMajor = 75, kCapabilityMinor = 76;
constexpr int kFunctionMaxThreads = 0;
constexpr unsigned kStreamNonBlocking = 1;

/// The driver, opened and initialised at first use. Throws Error(Device) if there is no driver or no GPU.
const Api& api();
/// "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered".
std::string statusName(Status status);
/// Throws Error(Runtime): "kernel E_4 on CUDA (NVIDIA H100): cuLaunchKernel: CUDA_ERROR_...".
void check(Status status, const char* call, const std::string& where);
int deviceCount();
int attribute(int device, int which);

} // namespace uopscope::cuda
