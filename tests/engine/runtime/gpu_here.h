// Whether this machine can run kernels of OpenCL, of CUDA and of WebGPU. PoCL makes two devices of the CPU,
// CUDA_SPLIT two of a GPU and WEBGPU_SPLIT two of an adapter, so that CL:1, CUDA:1 and WEBGPU:1 exist.
#pragma once
#include "engine/base/error.h"
#include "engine/runtime/device.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

namespace uopscope::testing {

/// False, with a message, where the device cannot be opened.
inline bool opens(const char* device) {
  try {
    Device::get(device);
    return true;
  } catch (const Error& e) {
    MESSAGE("not run: ", std::string(e.what()));
    return false;
  }
}
/// False, with a message, where what `compile` does finds no compiler; other errors are thrown on.
template <typename F>
bool compilerHere(F compile) {
  try {
    compile();
    return true;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Device) throw;
    MESSAGE("not run: ", std::string(e.what()));
    return false;
  }
}
inline bool openClHere() {
  setenv("POCL_DEVICES", "pthread pthread", 0);
  return opens("CL");
}
inline bool cudaHere() {
  setenv("CUDA_SPLIT", "2", 0);
  return opens("CUDA");
}
inline bool webGpuHere() {
  setenv("WEBGPU_SPLIT", "2", 0);
  return opens("WEBGPU");
}

} // namespace uopscope::testing
