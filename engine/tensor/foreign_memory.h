// Tensors over memory that somebody else owns: another library's array, an address.
//
//   Tensor t = tensorOver("CPU", dtypes::float32, {2, 3}, array.data(), keep);   // writes to t are writes to array
//
// Invariant: each byte belongs to one BUFFER. Memory that a tensor has already becomes a view of that tensor's
// buffer, so that an assignment through one is seen by all, in the order of the script (assignment.md).
#pragma once
#include "engine/tensor/tensor.h"

#include <memory>

namespace uopscope {

/// A tensor of the shape over dense memory of the device; `keep` is held while the memory is used. Throws
/// Error(Value) where the memory overlaps a buffer's without lying within it, element upon element.
Tensor tensorOver(const std::string& device, DType dtype, const Ints& shape, void* memory,
                  std::shared_ptr<void> keep, RequiresGrad requiresGrad = {});

} // namespace uopscope
