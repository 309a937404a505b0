#include "engine/tensor/foreign_memory.h"

#include "engine/base/error.h"
#include "engine/runtime/buffer.h"
#include "engine/tensor/graph.h"
#include "engine/tensor/tensor_memory.h"
#include "engine/uop/unique.h"

#include <fmt/format.h>

#include <tuple>

namespace uopscope {

namespace {

/// Where the memory begins in the buffer, in elements; -1 where it is no part of it.
int64_t placeIn(Buffer& whole, DType dtype, const void* memory, size_t bytes) {
  const ptrdiff_t offset =
      static_cast<const std::byte*>(memory) - static_cast<const std::byte*>(whole.memory());
  const auto item = static_cast<ptrdiff_t>(dtype.itemsize());
  if (whole.dtype() != dtype || offset < 0 || offset % item != 0) return -1;
  return static_cast<size_t>(offset) + bytes <= whole.bytes() ? offset / item : -1;
}

} // namespace

Tensor tensorOver(const std::string& device, DType dtype, const Ints& shape, void* memory,
                  std::shared_ptr<void> keep, RequiresGrad requiresGrad) {
  PoolScope scope(tensorPool());
  int64_t size = 1;
  for (int64_t d : shape) size *= d;
  const auto bytes = static_cast<size_t>(size) * static_cast<size_t>(dtype.itemsize());
  const Shape dims(shape.begin(), shape.end());
  auto [node, whole] = Buffer::overlapping(device, memory, bytes);
  if (whole && placeIn(*whole, dtype, memory, bytes) < 0) { // it may be of a tensor that is gone
    releaseUnreached();
    std::tie(node, whole) = Buffer::overlapping(device, memory, bytes);
  }
  if (!whole) {
    UOp buffer = newBuffer(device, dtype, size);
    Buffer::bind(buffer, Buffer::foreign(device, dtype, size, memory, std::move(keep)));
    return Tensor::fromUOp(graph::reshape(buffer, dims), requiresGrad);
  }
  const int64_t first = placeIn(*whole, dtype, memory, bytes);
  if (first < 0)
    throw Error(
        ErrorKind::Value,
        fmt::format("this memory ({} elements of {}) overlaps that of another tensor ({} elements of {}) "
                    "without being a part of it: make a tensor of the whole memory first, and slices of it",
                    size, dtype.name(), whole->size(), whole->dtype().name()));
  // A node unlike the other tensor's own, so that it becomes one more name of the memory.
  const UOp part = graph::reshape(graph::shrink(node, {{first, first + size}}), dims);
  return Tensor::named(graph::detach(part), requiresGrad);
}

} // namespace uopscope
