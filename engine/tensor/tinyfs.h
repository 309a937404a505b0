// Storage by content on a server of tinyfs. A tensor of bytes is cut into chunks of 1 MB; the device TINYFS:STORE gives 16
// bytes that name each chunk, and as many names as fill a chunk are stored in the same way, until one name is left.
// TINYFS:LOAD gives the contents for names.
//
//   Tensor name = tinyfs::store(weights);                       // uint8, shape (16,)
//   Tensor bytes = tinyfs::load(name, 4096);                    // uint8, shape (4096,)
//
// Invariant: both are graphs only. No device of this engine is a server, so computing them is a DeviceError.
#pragma once
#include "engine/tensor/tensor.h"

namespace uopscope::tinyfs {

/// The first `size` bytes of the content that the name stands for. Throws Error(Shape) unless `name` is 16 bytes of uint8.
Tensor load(const Tensor& name, int64_t size);
Tensor store(const Tensor& values);

} // namespace uopscope::tinyfs
