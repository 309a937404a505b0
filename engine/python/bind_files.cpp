// The basis of readers of file formats: the bytes of a tensor without a copy, and tensors over parts of these
// bytes.
//
//   view = memoryview(_uopscope.tensor_bytes(Tensor(pathlib.Path("model.gguf"))))
//   part = _uopscope.tensor_part(t, 4096, dtypes.float32, (16, 16))
#include "engine/python/bindings.h"
#include "engine/runtime/buffer.h"
#include "engine/runtime/device.h"
#include "engine/runtime/mapped_file.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

/// The memory of a tensor for Python's buffer protocol; it is held as long as Python uses it.
struct TensorBytes {
  std::shared_ptr<Buffer> buffer;
  std::vector<std::byte> copy; ///< used if the memory of the device is not host memory
};

std::shared_ptr<TensorBytes> bytesOf(const Tensor& t) {
  auto out = std::make_shared<TensorBytes>();
  if (t.intNumel() == 0) return out;
  std::shared_ptr<Buffer> b = t.buffer();
  if (Device::get(b->device()).hostView(b->memory()))
    out->buffer = std::move(b);
  else
    out->copy = t.bytes();
  return out;
}

/// A tensor over a part of a realized tensor: a view on files and where vectors may be read at the offset,
/// else an operation.
Tensor partOf(const Tensor& t, int64_t offset, DType dtype, const Ints& shape) {
  int64_t count = 1;
  for (int64_t s : shape) {
    if (s < 0 || (s > 0 && count > std::numeric_limits<int64_t>::max() / 16 / s))
      throw Error(ErrorKind::Value,
                  fmt::format("a tensor of shape ({}): no such size", fmt::join(shape, ", ")));
    count *= s;
  }
  int64_t bytes = count * dtype.itemsize(), size = t.intNumel();
  if (t.ndim() != 1 || t.dtype().itemsize() != 1 || offset < 0 || offset > size || bytes > size - offset)
    throw Error(ErrorKind::Value, fmt::format("bytes {} to {} of {}", offset, offset + bytes, size));
  constexpr int64_t kAlignment = 64;
  Tensor part = t.shrink({std::pair(Sint(offset), Sint(offset + bytes))});
  Shape to(shape.begin(), shape.end());
  if (isFileDevice(t.device()) || offset % kAlignment == 0)
    if (Tensor view = part.memoryView(dtype)) return view.reshape(to);
  return part.bitcast(dtype).reshape(to);
}

} // namespace

void bindFiles(py::module_& m) {
  py::class_<TensorBytes, std::shared_ptr<TensorBytes>>(m, "TensorBytes", py::buffer_protocol())
      .def_buffer([](TensorBytes& b) {
        void* at = b.buffer ? b.buffer->memory() : b.copy.data();
        size_t size = b.buffer ? b.buffer->bytes() : b.copy.size();
        return py::buffer_info(at, 1, py::format_descriptor<uint8_t>::format(), 1, {size}, {size_t{1}}, true);
      });
  m.def("tensor_bytes", &bytesOf);
  m.def("tensor_part", &partOf);
}

} // namespace uopscope
