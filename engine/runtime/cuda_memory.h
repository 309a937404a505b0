// A CUDA device as memory and programs see it, and the table from addresses to devices: a kernel compiled by
// CUDA runs on CUDA:1 where its memory is there.
//
//   cuda::Gpu& gpu = cuda::gpuOf(address);
#pragma once
#include "engine/runtime/cuda_api.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace uopscope::cuda {

/// Lives until the process ends, as the driver does.
struct Gpu {
  int ordinal = 0;
  Object context = nullptr, stream = nullptr;
  Object begin = nullptr, end = nullptr; ///< events around a launch that is timed
  std::string label;                     ///< "CUDA:1 (NVIDIA H100)"
  std::string architecture;              ///< "sm_90"
  std::mutex mutex;                      ///< of the events and of `launched`
  std::vector<std::string> launched;     ///< the last kernels since the stream was waited for

  /// Makes this device's context the thread's.
  void enter() const { check(api().contextSetCurrent(context), "cuCtxSetCurrent", label); }
  /// Waits for the stream. Throws Error(Runtime) that names the kernels one of which failed.
  void synchronize();
  void note(const std::string& kernel);
};

class MemoryTable {
public:
  /// Null where the GPU has no more.
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
