// AMD's HIP, opened at run time: the table of driver_api.h filled with its functions. HIP has no contexts; a device's
// number stands for one.
//
//   const driver::Api& hip = hip::api();                         // throws Error(Device) that names the package
//   hip::architectureOf(0)                                       // "gfx942"
#pragma once
#include "engine/runtime/driver_api.h"

namespace uopscope::hip {

/// The library (in ROCM_PATH/lib if that is set, else where the system keeps libraries), opened and initialised at
/// first use. Throws Error(Device) if there is no HIP or no GPU.
const driver::Api& api();
/// The name that LLVM knows a GPU by. Throws Error(Device) if HIP does not tell it.
std::string architectureOf(int device);

} // namespace uopscope::hip
