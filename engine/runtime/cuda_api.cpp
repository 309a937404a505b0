// Opens CUDA's driver (libcuda.so.1) and names its errors.
#include "engine/runtime/cuda_api.h"

#include "engine/base/error.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace uopscope::cuda {

namespace {

template <typename F>
void take(void* library, F*& function, const char* name) {
  function = reinterpret_cast<F*>(dlsym(library, name));
  if (!function)
    throw Error(ErrorKind::Device, fmt::format("CUDA's driver lacks {}: it is older than CUDA 12; install a "
                                               "newer driver of NVIDIA",
                                               name));
}

Api functionsOf(void* library) {
  Api a{};
  take(library, a.init, "cuInit");
  take(library, a.getErrorName, "cuGetErrorName");
  take(library, a.getErrorString, "cuGetErrorString");
  take(library, a.deviceGetCount, "cuDeviceGetCount");
  take(library, a.deviceGet, "cuDeviceGet");
  take(library, a.deviceGetName, "cuDeviceGetName");
  take(library, a.deviceGetAttribute, "cuDeviceGetAttribute");
  take(library, a.deviceTotalMem, "cuDeviceTotalMem_v2");
  take(library, a.primaryContextRetain, "cuDevicePrimaryCtxRetain");
  take(library, a.contextSetCurrent, "cuCtxSetCurrent");
  take(library, a.memAlloc, "cuMemAlloc_v2");
  take(library, a.memFree, "cuMemFree_v2");
  take(library, a.memcpyToDevice, "cuMemcpyHtoDAsync_v2");
  take(library, a.memcpyToHost, "cuMemcpyDtoHAsync_v2");
  take(library, a.memcpyPeer, "cuMemcpyPeerAsync");
  take(library, a.streamCreate, "cuStreamCreate");
  take(library, a.streamSynchronize, "cuStreamSynchronize");
  take(library, a.eventCreate, "cuEventCreate");
  take(library, a.eventRecord, "cuEventRecord");
  take(library, a.eventSynchronize, "cuEventSynchronize");
  take(library, a.eventElapsedTime, "cuEventElapsedTime");
  take(library, a.moduleLoadData, "cuModuleLoadData");
  take(library, a.moduleUnload, "cuModuleUnload");
  take(library, a.moduleGetFunction, "cuModuleGetFunction");
  take(library, a.functionGetAttribute, "cuFuncGetAttribute");
  take(library, a.launchKernel, "cuLaunchKernel");
  take(library, a.graphCreate, "cuGraphCreate");
  take(library, a.graphDestroy, "cuGraphDestroy");
  take(library, a.graphAddKernelNode, "cuGraphAddKernelNode_v2");
  take(library, a.graphInstantiate, "cuGraphInstantiateWithFlags");
  take(library, a.graphSetKernelNode, "cuGraphExecKernelNodeSetParams_v2");
  take(library, a.graphLaunch, "cuGraphLaunch");
  take(library, a.graphExecDestroy, "cuGraphExecDestroy");
  return a;
}

std::string nameOf(const Api& a, Status status) {
  const char *name = nullptr, *meaning = nullptr;
  a.getErrorName(status, &name);
  a.getErrorString(status, &meaning);
  return name ? fmt::format("{}: {}", name, meaning ? meaning : "") : fmt::format("status {}", status);
}

Api open() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw Error(ErrorKind::Device,
                "there is no CUDA device on this machine: NVIDIA's driver (libcuda.so.1, Debian package "
                "libcuda1) is missing; DEV=NULL:CUDA renders CUDA kernels and runs nothing, DEV=REF:CUDA "
                "interprets them");
  Api a = functionsOf(library);
  if (Status status = a.init(0); status != 0)
    throw Error(ErrorKind::Device,
                fmt::format("CUDA's driver does not start: {}. Is a GPU of NVIDIA here, and "
                            "does nvidia-smi list it?",
                            nameOf(a, status)));
  int count = 0;
  if (Status status = a.deviceGetCount(&count); status != 0 || count == 0)
    throw Error(ErrorKind::Device,
                "CUDA's driver finds no GPU: is CUDA_VISIBLE_DEVICES set, and does nvidia-smi list one?");
  return a;
}

} // namespace

const Api& api() {
  static const Api a = open();
  return a;
}

std::string statusName(Status status) {
  return nameOf(api(), status);
}

void check(Status status, const char* call, const std::string& where) {
  if (status != 0)
    throw Error(ErrorKind::Runtime, fmt::format("{}: {}: {}", where, call, statusName(status)));
}

int deviceCount() {
  int count = 0;
  check(api().deviceGetCount(&count), "cuDeviceGetCount", "CUDA");
  return count;
}

int attribute(int device, int which) {
  int value = 0;
  check(api().deviceGetAttribute(&value, which, device), "cuDeviceGetAttribute", "CUDA");
  return value;
}

} // namespace uopscope::cuda
