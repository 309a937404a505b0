// Whether this machine can run kernels of OpenCL and of CUDA. PoCL makes two devices of the CPU and
// CUDA_SPLIT two of a GPU, so that CL:1 and CUDA:1 exist.
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
inline bool openClHere() {
  setenv("POCL_DEVICES", "pthread pthread", 0);
  return opens("CL");
}
inline bool cudaHere() {
  setenv("CUDA_SPLIT", "2", 0);
  return opens("CUDA");
}

} // namespace uopscope::testing
