// The functions of a GPU's driver that devices call: CUDA's driver and AMD's HIP have the same ones under different
// names. Each is looked up at run time and nothing is linked, so one binary runs with and without a driver. cuda_api.h
// and hip_api.h fill the table in; memory, programs and devices work on any.
//
//   const driver::Api& api = cuda::api();                         // throws Error(Device) that names the package
//   api.must("device CUDA", api.streamSynchronize, stream);       // throws "device CUDA: cuStreamSynchronize: CUDA_..."
//
// Invariant: a table is complete, and never changes once it is made.
#pragma once
#include "engine/base/error.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace uopscope::driver {

/// A context, stream, module, function, event or graph: a pointer for the driver alone.
using Object = void*;
using Status = int;
/// An address on the device.
using Address = unsigned long long;

/// A function of the driver, and the name that errors call it by.
template <typename... P>
struct Call {
  Status (*function)(P...) = nullptr;
  const char* name = "";
  Status operator()(P... p) const { return function(p...); }
};

/// A kernel of a graph, laid out as CUDA's driver takes it (CUDA_KERNEL_NODE_PARAMS_v2).
struct KernelNode {
  Object function = nullptr;
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, sharedBytes = 0;
  void** parameters = nullptr;
  void** extra = nullptr;
  Object kernel = nullptr, context = nullptr;
};

struct Api {
  const char* kind = ""; ///< "CUDA", "AMD": devices are called so
  std::string (*statusName)(Status) = nullptr;

  Call<int*> deviceGetCount;
  Call<int*, int> deviceGet;
  Call<char*, int, int> deviceGetName;
  Call<size_t*, int> deviceTotalMem;
  Call<Object*, int> contextOf;   ///< of a device
  Call<Object> contextSetCurrent; ///< that of this thread
  Call<Address*, size_t> memAlloc;
  Call<Address> memFree;
  Call<Address, const void*, size_t, Object> memcpyToDevice;
  Call<void*, Address, size_t, Object> memcpyToHost;
  Call<Address, Object, Address, Object, size_t, Object> memcpyPeer;
  Call<Object*, unsigned> streamCreate;
  Call<Object> streamSynchronize;
  Call<Object*, unsigned> eventCreate;
  Call<Object, Object> eventRecord;
  Call<Object> eventSynchronize;
  Call<float*, Object, Object> eventElapsedTime;
  Call<Object*, const void*> moduleLoadData;
  Call<Object> moduleUnload;
  Call<Object*, Object, const char*> moduleGetFunction;
  Call<int*, int, Object> functionGetAttribute;
  Call<Object, int, int> functionSetAttribute;
  Call<Object, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Object, void**, void**>
      launchKernel;
  Call<Object*, unsigned> graphCreate;
  Call<Object> graphDestroy;
  Call<Object*, Object, const Object*, size_t, const KernelNode*> graphAddKernelNode;
  Call<Object*, Object, unsigned long long> graphInstantiate;
  Call<Object, Object, const KernelNode*> graphSetKernelNode;
  Call<Object, Object> graphLaunch;
  Call<Object> graphExecDestroy;

  /// Throws Error(Runtime): "kernel E_4 on CUDA (NVIDIA H100): cuLaunchKernel: CUDA_ERROR_...".
  template <typename... P, typename... A>
  void must(const std::string& where, const Call<P...>& call, A&&... arguments) const {
    if (Status status = call(std::forward<A>(arguments)...); status != 0)
      throw Error(ErrorKind::Runtime, where + ": " + call.name + ": " + statusName(status));
  }
};

// Both drivers number these alike.
constexpr int kFunctionMaxThreads = 0, kFunctionMaxDynamicShared = 8;
constexpr unsigned kStreamNonBlocking = 1;

/// The address of a function of an opened library; null if it has none.
void* symbol(void* library, const char* name);

/// Fills in an entry of a table. Returns false if the library lacks the function.
template <typename... P>
bool take(void* library, Call<P...>& call, const char* name) {
  call = {reinterpret_cast<Status (*)(P...)>(symbol(library, name)), name};
  return call.function != nullptr;
}

} // namespace uopscope::driver
