// Whether OpenCL kernels can be run on this machine. PoCL makes two devices of the CPU, so that CL:1 is
// there.
#pragma once
#include "engine/base/error.h"
#include "engine/runtime/device.h"

#include <doctest/doctest.h>

#include <cstdlib>

namespace uopscope::testing {

/// False with a sentence where there is no driver.
inline bool openClHere() {
  setenv("POCL_DEVICES", "pthread pthread", 0);
  try {
    Device::get("CL");
    return true;
  } catch (const Error& e) {
    MESSAGE("not run: ", e.what());
    return false;
  }
}

} // namespace uopscope::testing
