// Memory shared with other libraries: DLPack in both directions, without a copy if the memory of the device
// is host memory.
//
//   np.from_dlpack(t)          a view of the tensor's buffer, which it keeps alive
//   Tensor.from_dlpack(a)      a tensor over the memory of the array `a`, which it keeps alive
#include "engine/python/bindings.h"
#include "engine/runtime/device.h"
#include "engine/tensor/foreign_memory.h"

#include <fmt/format.h>

#include <cstring>

namespace uopscope {

namespace {

// The layout of DLPack 0.8, which every library uses.
struct DlDevice {
  int32_t type, id;
};
struct DlDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DlTensor {
  void* data;
  DlDevice device;
  int32_t ndim;
  DlDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byteOffset;
};
struct DlManaged {
  DlTensor tensor;
  void* context;
  void (*deleter)(DlManaged*);
};
constexpr int32_t kCpu = 1;
constexpr uint8_t kInt = 0, kUnsigned = 1, kFloat = 2, kBFloat = 4, kBool = 6;
constexpr const char *kFresh = "dltensor", *kUsed = "used_dltensor";

DlDataType typeOf(DType d) {
  auto bits = static_cast<uint8_t>(d.bitsize());
  if (d.isBool()) return {kBool, 8, 1};
  if (d == dtypes::bfloat16) return {kBFloat, bits, 1};
  if (d.isFloat() && bits >= 16) return {kFloat, bits, 1};
  if (d.isUnsigned()) return {kUnsigned, bits, 1};
  if (d.isInt()) return {kInt, bits, 1};
  throw Error(ErrorKind::Type, fmt::format("DLPack has no type for {}", d.name()));
}

DType typeFrom(DlDataType t) {
  for (DType d : {dtypes::bool_, dtypes::int8, dtypes::int16, dtypes::int32, dtypes::int64, dtypes::uint8,
                  dtypes::uint16, dtypes::uint32, dtypes::uint64, dtypes::float16, dtypes::bfloat16,
                  dtypes::float32, dtypes::float64}) {
    DlDataType own = typeOf(d);
    if (own.code == t.code && own.bits == t.bits && t.lanes == 1) return d;
  }
  throw Error(ErrorKind::Type,
              fmt::format("from_dlpack: type code {} of {} bits and {} lanes", t.code, t.bits, t.lanes));
}

/// The objects that an exported tensor keeps alive.
struct Exported {
  DlManaged managed{};
  std::shared_ptr<Buffer> buffer;
  std::vector<int64_t> shape, strides;
};

py::capsule exportTensor(const Tensor& t) {
  auto e = std::make_unique<Exported>();
  e->buffer = t.buffer();
  Device& device = Device::get(e->buffer->device());
  void* host = device.hostView(e->buffer->memory());
  if (!host)
    throw Error(ErrorKind::Unsupported,
                fmt::format("__dlpack__: memory of {} is not the host's", t.device()));
  e->shape = t.intShape();
  e->strides.resize(e->shape.size());
  int64_t step = 1;
  for (size_t i = e->shape.size(); i-- > 0;) {
    e->strides[i] = step;
    step *= e->shape[i];
  }
  e->managed = {{host,
                 {kCpu, 0},
                 static_cast<int32_t>(e->shape.size()),
                 typeOf(t.dtype()),
                 e->shape.data(),
                 e->strides.data(),
                 0},
                e.get(),
                [](DlManaged* m) { delete static_cast<Exported*>(m->context); }};
  PyObject* capsule = PyCapsule_New(&e->managed, kFresh, [](PyObject* c) {
    // A capsule that nobody consumed still owns its tensor.
    if (!PyCapsule_IsValid(c, kFresh)) return;
    auto* m = static_cast<DlManaged*>(PyCapsule_GetPointer(c, kFresh));
    m->deleter(m);
  });
  if (!capsule) throw py::error_already_set();
  static_cast<void>(e.release()); // from here the capsule, or its consumer, owns it
  return py::reinterpret_steal<py::capsule>(capsule);
}

Tensor importTensor(py::object source) {
  py::object capsule = py::hasattr(source, "__dlpack__") ? source.attr("__dlpack__")() : source;
  if (!PyCapsule_IsValid(capsule.ptr(), kFresh))
    throw py::type_error("from_dlpack: expected an object with __dlpack__, or a fresh capsule of one");
  auto* m = static_cast<DlManaged*>(PyCapsule_GetPointer(capsule.ptr(), kFresh));
  DType dtype = typeFrom(m->tensor.dtype);
  if (m->tensor.device.type != kCpu)
    throw Error(ErrorKind::Unsupported,
                fmt::format("from_dlpack: memory of device type {}, only the host's (1) is supported",
                            m->tensor.device.type));
  PyCapsule_SetName(capsule.ptr(), kUsed);
  std::shared_ptr<void> keep(m, [](void* p) {
    auto* managed = static_cast<DlManaged*>(p);
    if (managed->deleter && Py_IsInitialized()) managed->deleter(managed);
  });
  const DlTensor& t = m->tensor;
  Ints shape(t.shape, t.shape + t.ndim);
  int64_t size = 1;
  bool dense = true;
  for (size_t i = shape.size(); i-- > 0;) {
    dense = dense && (!t.strides || shape[i] == 1 || t.strides[i] == size);
    size *= shape[i];
  }
  auto* data = static_cast<std::byte*>(t.data) + t.byteOffset;
  auto itemsize = static_cast<size_t>(dtype.itemsize());
  if (dense || size == 0) {
    std::string where = Device::defaultName();
    if (!Device::get(where).hostView(data)) return Tensor::fromBytes(data, shape, dtype);
    return tensorOver(where, dtype, shape, data, keep);
  }
  std::vector<std::byte> packed(static_cast<size_t>(size) * itemsize);
  std::vector<int64_t> at(shape.size(), 0);
  for (int64_t k = 0; k < size; ++k) {
    int64_t offset = 0;
    for (size_t i = 0; i < shape.size(); ++i) offset += at[i] * t.strides[i];
    std::memcpy(packed.data() + static_cast<size_t>(k) * itemsize,
                data + offset * static_cast<int64_t>(itemsize), itemsize);
    for (size_t i = shape.size(); i-- > 0;) {
      if (++at[i] < shape[i]) break;
      at[i] = 0;
    }
  }
  return Tensor::fromBytes(packed.data(), shape, dtype);
}

} // namespace

void bindInterop(TensorClass& c) {
  c.def("__dlpack__", [](const Tensor& t, const py::kwargs&) { return exportTensor(t); });
  c.def("__dlpack_device__", [](const Tensor&) { return py::make_tuple(kCpu, 0); });
  c.def_static("from_dlpack", &importTensor, py::arg("x"));
  c.def(
      "__array__",
      [](const Tensor& t, py::object dtype, py::object) -> py::object {
        py::object a = py::cast(t).attr("numpy")();
        return dtype.is_none() ? a : py::object(a.attr("astype")(dtype));
      },
      py::arg("dtype") = py::none(), py::arg("copy") = py::none());
}

} // namespace uopscope
