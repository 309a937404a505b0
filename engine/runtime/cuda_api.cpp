// Opens CUDA's driver (libcuda.so.1) and names its errors.
#include "engine/runtime/cuda_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace uopscope::cuda {

namespace {

using namespace driver;

/// The functions that devices do not call through the table.
struct Further {
  Call<unsigned> init;
  Call<Status, const char**> getErrorName, getErrorString;
  Call<int*, int, int> deviceGetAttribute;
  Call<void*, int, unsigned, void*, const uint64_t*, const uint64_t*, const uint32_t*, const uint32_t*, int,
       int, int, int>
      tensorMapEncode;
};

struct Driver {
  Api api;
  Further further;
};

template <typename... P>
void need(void* library, Call<P...>& call, const char* name) {
  if (!take(library, call, name))
    throw Error(ErrorKind::Device, fmt::format("CUDA's driver lacks {}: it is older than CUDA 12; install a "
                                               "newer driver of NVIDIA",
                                               name));
}

std::string nameOf(const Further& f, Status status) {
  const char *name = nullptr, *meaning = nullptr;
  f.getErrorName(status, &name);
  f.getErrorString(status, &meaning);
  return name ? fmt::format("{}: {}", name, meaning ? meaning : "") : fmt::format("status {}", status);
}

Further furtherOf(void* library) {
  Further f;
  need(library, f.init, "cuInit");
  need(library, f.getErrorName, "cuGetErrorName");
  need(library, f.getErrorString, "cuGetErrorString");
  need(library, f.deviceGetAttribute, "cuDeviceGetAttribute");
  need(library, f.tensorMapEncode, "cuTensorMapEncodeTiled");
  return f;
}

Api functionsOf(void* library) {
  Api a;
  a.kind = "CUDA";
  need(library, a.deviceGetCount, "cuDeviceGetCount");
  need(library, a.deviceGet, "cuDeviceGet");
  need(library, a.deviceGetName, "cuDeviceGetName");
  need(library, a.deviceTotalMem, "cuDeviceTotalMem_v2");
  need(library, a.contextOf, "cuDevicePrimaryCtxRetain");
  need(library, a.contextSetCurrent, "cuCtxSetCurrent");
  need(library, a.memAlloc, "cuMemAlloc_v2");
  need(library, a.memFree, "cuMemFree_v2");
  need(library, a.memcpyToDevice, "cuMemcpyHtoDAsync_v2");
  need(library, a.memcpyToHost, "cuMemcpyDtoHAsync_v2");
  need(library, a.memcpyPeer, "cuMemcpyPeerAsync");
  need(library, a.streamCreate, "cuStreamCreate");
  need(library, a.streamSynchronize, "cuStreamSynchronize");
  need(library, a.eventCreate, "cuEventCreate");
  need(library, a.eventRecord, "cuEventRecord");
  need(library, a.eventSynchronize, "cuEventSynchronize");
  need(library, a.eventElapsedTime, "cuEventElapsedTime");
  need(library, a.moduleLoadData, "cuModuleLoadData");
  need(library, a.moduleUnload, "cuModuleUnload");
  need(library, a.moduleGetFunction, "cuModuleGetFunction");
  need(library, a.functionGetAttribute, "cuFuncGetAttribute");
  need(library, a.functionSetAttribute, "cuFuncSetAttribute");
  need(library, a.launchKernel, "cuLaunchKernel");
  need(library, a.graphCreate, "cuGraphCreate");
  need(library, a.graphDestroy, "cuGraphDestroy");
  need(library, a.graphAddKernelNode, "cuGraphAddKernelNode_v2");
  need(library, a.graphInstantiate, "cuGraphInstantiateWithFlags");
  need(library, a.graphSetKernelNode, "cuGraphExecKernelNodeSetParams_v2");
  need(library, a.graphLaunch, "cuGraphLaunch");
  need(library, a.graphExecDestroy, "cuGraphExecDestroy");
  return a;
}

Driver openDriver() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw Error(ErrorKind::Device,
                "there is no CUDA device on this machine: NVIDIA's driver (libcuda.so.1, Debian package "
                "libcuda1) is missing; DEV=NULL:CUDA renders CUDA kernels and runs nothing, DEV=REF:CUDA "
                "interprets them");
  Driver d{functionsOf(library), furtherOf(library)};
  if (Status status = d.further.init(0); status != 0)
    throw Error(ErrorKind::Device,
                fmt::format("CUDA's driver does not start: {}. Is a GPU of NVIDIA here, and "
                            "does nvidia-smi list it?",
                            nameOf(d.further, status)));
  int count = 0;
  if (Status status = d.api.deviceGetCount(&count); status != 0 || count == 0)
    throw Error(ErrorKind::Device,
                "CUDA's driver finds no GPU: is CUDA_VISIBLE_DEVICES set, and does nvidia-smi list one?");
  return d;
}

const Driver& opened() {
  static const Driver d = [] {
    Driver made = openDriver();
    made.api.statusName = [](Status status) { return nameOf(opened().further, status); };
    return made;
  }();
  return d;
}

} // namespace

const Api& api() {
  return opened().api;
}

void encodeTensorMap(void* map, int type, const std::array<uint64_t, 2>& sizes,
                     const std::array<uint64_t, 1>& distances, const std::array<uint32_t, 2>& box,
                     const std::array<uint32_t, 2>& steps, void* address) {
  // Of CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion and CUtensorMapFloatOOBfill.
  constexpr int kNoInterleave = 0, kSwizzle128 = 3, kLinesOf256 = 3, kZeros = 0;
  api().must("CUDA", opened().further.tensorMapEncode, map, type, 2U, address, sizes.data(), distances.data(),
             box.data(), steps.data(), kNoInterleave, kSwizzle128, kLinesOf256, kZeros);
}

int attribute(int device, int which) {
  int value = 0;
  api().must("CUDA", opened().further.deviceGetAttribute, &value, which, device);
  return value;
}

} // namespace uopscope::cuda
