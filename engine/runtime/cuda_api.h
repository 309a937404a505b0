// CUDA's driver, opened at run time. Types are those of its C interface, whose numbers never change.
//
//   const driver::Api& cu = cuda::api();                         // throws Error(Device) that names the package
#pragma once
#include "engine/runtime/driver_api.h"

#include <array>

namespace uopscope::cuda {

constexpr int kMaxThreadsPerBlock = 1, kMaxBlockDimX = 2, kMaxGridDimX = 5, kMaxSharedOnRequest = 97,
              kProcessors = 16, kCacheBytes = 38, kCapabilityMajor = 75, kCapabilityMinor = 76;

/// The driver, opened and initialised at first use. Throws Error(Device) if there is no driver or no GPU.
const driver::Api& api();
/// cuTensorMapEncodeTiled for a matrix whose boxes are copied in rows of 128 bytes with columns exchanged: a map of 128 bytes.
/// Throws Error(Runtime).
void encodeTensorMap(void* map, int type, const std::array<uint64_t, 2>& sizes,
                     const std::array<uint64_t, 1>& distances, const std::array<uint32_t, 2>& box,
                     const std::array<uint32_t, 2>& steps, void* address);
/// An attribute of a device.
int attribute(int device, int which);

} // namespace uopscope::cuda
