// CUDA devices as memory and programs see them, and the table from addresses to devices. A kernel compiled
// for CUDA runs on CUDA:1 if its memory is there.
//
//   cuda::Gpu& gpu = cuda::gpuOf(address);
#pragma once
#include "engine/runtime/cuda_api.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace uopscope::cuda {

/// A GPU. It lives until the process ends, as the driver does.
struct Gpu {
  int ordinal = 0;
  Object context = nullptr, stream = nullptr;
  Object begin = nullptr, end = nullptr; ///< events around a timed launch
  std::string label;                     ///< "CUDA:1 (NVIDIA H100)"
  std::string architecture;              ///< "sm_90"
  std::mutex mutex;                      ///< guards the events and `launched`
  std::vector<std::string> launched;     ///< the last kernels launched since the stream was last waited for

  /// Makes this device's context that of the thread.
  void enter() const { check(api().contextSetCurrent(context), "cuCtxSetCurrent", label); }
  /// Waits for the stream. Throws Error(Runtime) naming the kernels, one of which failed.
  void synchronize();
  void note(const std::string& kernel);
};

class MemoryTable {
public:
  /// Null if the GPU has no more memory.
  void* take(Gpu& gpu, size_t bytes);
  void give(void* address);
  /// Throws Error(Runtime) for an address that is no memory of CUDA.
  Gpu& gpuOf(const void* address);

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

} // namespace uopscope::cuda
