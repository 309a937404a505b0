// GPUs as memory and programs see them, and the table from addresses to GPUs. A kernel compiled for CUDA runs on
// CUDA:1 if its memory is there.
//
//   driver::Gpu& gpu = driver::memoryTable().gpuOf(cuda::api(), address);
#pragma once
#include "engine/runtime/driver_api.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace uopscope::driver {

/// A GPU. It lives until the process ends, as the driver does.
struct Gpu {
  const Api& api;
  int ordinal = 0;
  Object context = nullptr, stream = nullptr;
  Object begin = nullptr, end = nullptr; ///< events around a timed launch
  std::string label;                     ///< "CUDA:1 (NVIDIA H100)"
  std::string architecture;              ///< "sm_90", "gfx942"
  std::mutex mutex;                      ///< guards the events and `launched`
  std::vector<std::string> launched;     ///< the last kernels launched since the stream was last waited for

  explicit Gpu(const Api& driver) : api(driver) {}
  /// Calls the driver. Throws Error(Runtime) naming this GPU.
  template <typename... P, typename... A>
  void must(const Call<P...>& call, A&&... arguments) const {
    api.must(label, call, std::forward<A>(arguments)...);
  }
  /// Makes this device's context that of the thread.
  void enter() const { must(api.contextSetCurrent, context); }
  /// Waits for the stream. Throws Error(Runtime) naming the kernels, one of which failed.
  void synchronize();
  void note(const std::string& kernel);
};

/// Opens the GPU that a device of this name shows: "CUDA:1". With CUDA_SPLIT=4 (AMD_SPLIT=4) each GPU shows as four
/// devices with streams of their own. It is never destroyed, since buffers outlive static objects. Its architecture is
/// empty. Throws Error(Device) if there is no such GPU.
Gpu& openGpu(const Api& api, const std::string& name);

class MemoryTable {
public:
  /// Null if the GPU has no more memory.
  void* take(Gpu& gpu, size_t bytes);
  void give(void* address);
  /// Throws Error(Runtime) for an address that is no memory of a GPU of this driver.
  Gpu& gpuOf(const Api& api, const void* address);

private:
  struct Block {
    size_t bytes;
    Gpu* gpu;
  };
  std::mutex mutex_;
  std::map<uintptr_t, Block> blocks_;
};
/// One table for all devices of the process.
MemoryTable& memoryTable();

} // namespace uopscope::driver
