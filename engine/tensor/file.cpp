// Tensors of files and of parts of memory. A contiguous part is a buffer over the same bytes:
//
//   Tensor t = Tensor::fromFile("/data/weights.bin");                    // uint8 on DISK:/data/weights.bin
//   t.shrink({{{8, 24}}}).bitcast(dtypes::float32).to("CPU")             // copies 16 bytes, computes nothing
//
// DISK computes nothing, so any other value must be moved to a different device first.
#include "engine/runtime/buffer.h"
#include "engine/runtime/mapped_file.h"
#include "engine/tensor/tensor.h"
#include "engine/uop/unique.h"

#include <fmt/format.h>

#include <filesystem>

namespace uopscope {

namespace {

struct Part {
  UOp buffer;
  int64_t offset; ///< in elements
};

/// The buffer in which the values of a node lie contiguously, and the position of the first one; none if they
/// do not.
std::optional<Part> partOf(UOp u) {
  if (u.is(Op::BUFFER)) return Part{u, 0};
  if (!u.in({Op::RESHAPE, Op::SHRINK, Op::CONTIGUOUS, Op::DETACH})) return {};
  auto part = partOf(u.src(0));
  if (!part || !u.is(Op::SHRINK)) return part;
  const Shape &from = u.src(0).shape(), &to = u.shape();
  Shape begin = uopToShape(u.src(1));
  int64_t stride = 1;
  bool whole = true; // all axes so far are taken in full, or have length 1 after one that is not
  for (size_t k = from.size(); k-- > 0;) {
    if (!from[k].isInt() || !to[k].isInt() || !begin[k].isInt()) return {};
    if (!whole && to[k].i() != 1) return {};
    whole = whole && to[k].i() == from[k].i();
    part->offset += begin[k].i() * stride;
    stride *= from[k].i();
  }
  return part;
}

} // namespace

Tensor Tensor::fromFile(const std::string& path) {
  OperationScope op("Tensor");
  auto memory = mapFile(std::filesystem::absolute(path).lexically_normal());
  UOp buffer = newBuffer(memory->device(), dtypes::uint8, memory->size());
  Buffer::bind(buffer, memory);
  return fromUOp(buffer);
}

Tensor Tensor::memoryView(DType as) const {
  OperationScope op("memory_view");
  if (!uop().hasShape()) return {};
  for (const Sint& s : shape())
    if (!s.isInt()) return {};
  auto part = partOf(uop());
  if (!part) return {};
  Ints to = intShape();
  int64_t bytes = intNumel() * dtype().itemsize(), size = as.itemsize();
  if (as.itemsize() != dtype().itemsize()) {
    if (to.empty() || (to.back() * dtype().itemsize()) % size) return {};
    to.back() = to.back() * dtype().itemsize() / size;
  }
  UOp buffer = newBuffer(device(), as, bytes / size);
  Buffer::bind(buffer,
               Buffer::view(Buffer::of(part->buffer), as, bytes / size, part->offset * dtype().itemsize()));
  return fromUOp(graph::reshape(buffer, Shape(to.begin(), to.end())), false);
}

Tensor Tensor::inMemory() const {
  OperationScope op("memory_view");
  if (!isFileDevice(device()) || graph::isRealized(uop())) return *this;
  if (Tensor part = memoryView(dtype())) return part;
  fail(ErrorKind::Device,
       fmt::format("{} of shape {} is not one piece of the file {}: DISK computes nothing, move the tensor "
                   "to a device first, as in .to(\"CPU\")",
                   opName(uop().op()), shapeStr(shape()), filePath(device())));
}

void Tensor::writeToFile(const Tensor& values) const {
  Tensor part = inMemory();
  auto bytes = values.bytes();
  if (!bytes.empty()) part.buffer()->copyIn(bytes.data());
}

} // namespace uopscope
