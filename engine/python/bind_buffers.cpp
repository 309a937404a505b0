// Buffers: memory of a device as a Python object. A Buffer of Python is a Buffer of the engine, so kernels
// take it directly.
//
//   b = Buffer("CPU", 4, dtypes.int32).allocate(); b.copyin(memoryview(struct.pack("4i", 1, 2, 3, 4)))
//   b.view(2, dtypes.int32, 8).as_buffer().cast("i").tolist()                  # [3, 4]
#include "engine/base/engine_session.h"
#include "engine/python/bindings.h"
#include "engine/runtime/buffer.h"
#include "engine/runtime/live_buffers.h"
#include "engine/runtime/run_capture.h"
#include "engine/tensor/random_streams.h"
#include "engine/tensor/state.h"
#include "engine/tensor/tensor_memory.h"

#include <fmt/format.h>

#include <mutex>
#include <unordered_set>

namespace uopscope {

namespace {

using BufferRef = std::shared_ptr<Buffer>;

/// Copies a Python buffer into a Buffer. Both must have the same length.
void copyIn(Buffer& to, const py::buffer& from) {
  py::buffer_info info = from.request();
  if (static_cast<size_t>(info.size * info.itemsize) != to.bytes())
    throw Error(ErrorKind::Shape,
                fmt::format("copyin of {} bytes into {}", info.size * info.itemsize, to.bytes()));
  to.allocate();
  to.copyIn(info.ptr);
}

/// The views that a script made of memory that was not there yet, or gave back: they have to be allocated before use.
struct IdleViews {
  std::mutex mutex;
  std::unordered_set<uint64_t> ids;
};
void setIdle(const Buffer& view, bool idle) {
  auto& views = EngineSession::current().part<IdleViews>();
  std::lock_guard lock(views.mutex);
  if (idle)
    views.ids.insert(view.id());
  else
    views.ids.erase(view.id());
}

bool isIdle(const Buffer& b) {
  auto& views = EngineSession::current().part<IdleViews>();
  std::lock_guard lock(views.mutex);
  return views.ids.contains(b.id());
}
bool isUsable(const Buffer& b) {
  return b.root()->isAllocated() && !isIdle(b);
}

void requireAllocated(Buffer& b) {
  if (!isUsable(b))
    throw Error(ErrorKind::Shape,
                "the buffer has no memory: allocate it, or realize the tensor it belongs to, first");
}

BufferRef makeView(const BufferRef& base, DType dtype, int64_t size, int64_t byteOffset) {
  BufferRef view = Buffer::view(base, dtype, size, byteOffset);
  if (!isUsable(*base)) setIdle(*view, true);
  return view;
}

void deallocate(Buffer& b) {
  if (b.base() ? isIdle(b) : !b.isAllocated())
    throw Error(ErrorKind::Shape,
                "the buffer has no memory to give back: it was not allocated, or was given back already");
  if (b.base())
    setIdle(b, true);
  else
    b.release();
}

BufferRef makeBuffer(py::object device, int64_t size, py::object dtype, py::object opaque,
                     py::object initialValue, const BufferRef& base, int64_t offset, bool preallocate) {
  DType d = toValueDType(dtype);
  if (size < 0) throw Error(ErrorKind::Value, fmt::format("a buffer of {} elements", size));
  if (base) {
    if (base->base()) throw Error(ErrorKind::Shape, "the base of a view must be no view itself");
    return makeView(base, d, size, offset);
  }
  std::string name = toDevice(device);
  if (!opaque.is_none()) // an address; the caller keeps the memory alive
    return Buffer::foreign(name, d, size, reinterpret_cast<void*>(opaque.cast<uintptr_t>()), share(opaque));
  auto made = std::make_shared<Buffer>(name, d, size);
  if (!initialValue.is_none())
    copyIn(*made, initialValue.cast<py::buffer>());
  else if (preallocate)
    made->allocate();
  return made;
}

/// All bytes: the memory itself if the host can read it in place and that is allowed, else a copy.
py::memoryview asBuffer(py::object self, bool allowZeroCopy, bool forceZeroCopy) {
  auto& b = self.cast<Buffer&>();
  requireAllocated(b);
  void* host = Device::get(b.device()).hostView(b.memory());
  if (forceZeroCopy && !host)
    throw Error(ErrorKind::Unsupported,
                fmt::format("force zero copy was passed, but {} has memory of its own", b.device()));
  if ((allowZeroCopy || forceZeroCopy) && host) {
    Device::get(b.device()).synchronize();
    return py::memoryview(self);
  }
  py::bytearray out(std::string(b.bytes(), 0));
  b.copyOut(PyByteArray_AS_STRING(out.ptr()));
  return py::memoryview(out);
}

using BufferClass = py::class_<Buffer, BufferRef>;

/// The constructor of a buffer, and its fields.
void bindFields(BufferClass& c) {
  c.def(py::init([](py::object device, int64_t size, py::object dtype, py::object opaque, py::object,
                    py::object initial, int, const BufferRef& base, int64_t offset, bool preallocate) {
          return makeBuffer(device, size, dtype, opaque, initial, base, offset, preallocate);
        }),
        py::arg("device"), py::arg("size"), py::arg("dtype"), py::arg("opaque") = py::none(),
        py::arg("options") = py::none(), py::arg("initial_value") = py::none(), py::arg("uop_refcount") = 0,
        py::arg("base") = py::none(), py::arg("offset") = 0, py::arg("preallocate") = false);
  c.def_buffer([](Buffer& b) {
    requireAllocated(b);
    void* host = Device::get(b.device()).hostView(b.memory());
    if (!host)
      throw Error(ErrorKind::Unsupported,
                  fmt::format("the host cannot read the memory of {} in place", b.device()));
    return py::buffer_info(static_cast<uint8_t*>(host), static_cast<py::ssize_t>(b.bytes()));
  });
  c.def_property_readonly("device", &Buffer::device)
      .def_property_readonly("dtype", &Buffer::dtype)
      .def_property_readonly("size", &Buffer::size)
      .def_property_readonly("nbytes", &Buffer::bytes)
      .def_property_readonly("offset", &Buffer::offset)
      .def_property_readonly("base", [](const BufferRef& b) { return b->base() ? b->base() : b; })
      .def_property_readonly("_base", [](const BufferRef& b) { return b->base(); })
      .def_property_readonly("trace_num", &Buffer::id)
      .def_property_readonly("_buf",
                             [](Buffer& b) {
                               if (!b.isAllocated())
                                 throw py::attribute_error("the buffer has no memory yet");
                               return reinterpret_cast<uintptr_t>(b.memory());
                             })
      .def_property_readonly("uop_refcount",
                             [](const Buffer& b) {
                               releaseUnreached(); // nodes that nothing reaches are given back in batches
                               return b.holders();
                             })
      .def("ref",
           [](const BufferRef& b, int64_t more) {
             b->ref(more);
             return b;
           })
      .def("is_allocated", [](const Buffer& b) { return b.root()->isAllocated(); })
      .def("is_initialized", [](const Buffer& b) { return isUsable(b); });
}

/// The memory of a buffer: allocation, copies, views.
void bindMemory(BufferClass& c) {
  auto allocate = [](const BufferRef& b, py::object opaque, py::object external) {
    if (!opaque.is_none() || !external.is_none())
      throw Error(
          ErrorKind::Unsupported,
          "memory of somebody else is given to the constructor: Buffer(device, size, dtype, opaque=address)");
    releaseUnreached(); // frees unreachable memory before more is allocated
    b->allocate();
    if (b->base()) setIdle(*b, false);
    return b;
  };
  c.def(
       "allocate",
       [allocate](const BufferRef& b, py::object opaque, py::object external) {
         if (b->root()->isAllocated() && !b->base())
           throw Error(ErrorKind::Shape, "can't allocate already allocated buffer");
         return allocate(b, opaque, external);
       },
       py::arg("opaque") = py::none(), py::arg("external_ptr") = py::none())
      .def("ensure_allocated", [allocate](const BufferRef& b) { return allocate(b, py::none(), py::none()); })
      .def("deallocate", &deallocate)
      .def("copyin",
           [](const BufferRef& b, const py::buffer& from) {
             requireAllocated(*b);
             copyIn(*b, from);
             return b;
           })
      .def("copyout",
           [](Buffer& b, py::buffer to) {
             requireAllocated(b);
             py::buffer_info info = to.request(true);
             if (static_cast<size_t>(info.size * info.itemsize) != b.bytes())
               throw Error(ErrorKind::Shape,
                           fmt::format("copyout of {} bytes into {}", b.bytes(), info.size * info.itemsize));
             b.copyOut(info.ptr);
             return to;
           })
      .def("as_buffer", &asBuffer, py::arg("allow_zero_copy") = false, py::arg("force_zero_copy") = false)
      .def(
          "view",
          [](const BufferRef& b, int64_t size, py::object dtype, int64_t offset) {
            if (offset < 0 || static_cast<size_t>(offset) >= b->bytes())
              throw Error(ErrorKind::Shape,
                          fmt::format("offset must be less than nbytes: {} of {}", offset, b->bytes()));
            BufferRef base = b->base() ? b->base() : b;
            return makeView(base, toDType(dtype), size, static_cast<int64_t>(b->offset()) + offset);
          },
          py::arg("size"), py::arg("dtype"), py::arg("offset"))
      .def("numpy",
           [](py::object self) {
             auto& b = self.cast<Buffer&>();
             py::object type = py::module_::import("tinygrad.dtype").attr("_to_np_dtype")(b.dtype().base());
             if (type.is_none())
               throw Error(ErrorKind::Unsupported, fmt::format("NumPy has no type for {}", b.dtype().name()));
             return py::module_::import("numpy").attr("frombuffer")(asBuffer(self, false, false), type);
           })
      .def("__reduce__",
           [](py::object self) { // a new buffer with the same contents, if it has any
             auto& b = self.cast<Buffer&>();
             py::object bytes =
                 isUsable(b) ? py::object(py::bytes(asBuffer(self, false, false))) : py::none();
             return py::make_tuple(py::type::of(self), py::make_tuple(b.device(), b.size(), b.dtype(),
                                                                      py::none(), py::none(), bytes));
           })
      .def("__repr__", [](const Buffer& b) {
        return fmt::format("<buf real:{} device:{} size:{} dtype:{} offset:{}>", b.isAllocated(), b.device(),
                           b.size(), b.dtype().name(), b.offset());
      });
}

} // namespace

void bindBuffers(py::module_& m) {
  BufferClass c(m, "Buffer", py::buffer_protocol(), py::dynamic_attr());
  c.attr("__module__") = "tinygrad.device";
  bindFields(c);
  bindMemory(c);
  m.def("copy_buffer", [](const BufferRef& to, const BufferRef& from) {
    copyBuffer(*to, *from, {});
    if (RunCapture::active()) RunCapture::ran({nullptr, nullptr, {to, from}, {}, {}});
  });
  m.def("live_objects", [] {
    releaseUnreached();
    std::vector<std::shared_ptr<Tensor::State>> tensors;
    forEachTensor([&](Tensor::State& s) { tensors.push_back(s.shared_from_this()); });
    py::list all;
    for (auto& t : tensors) all.append(py::cast(t));
    for (const RandomStream& s : randomStreams()) all.append(py::cast(s.drawn.state()));
    for (auto& b : liveBuffers()) all.append(py::cast(b));
    return all;
  });
  m.def("buffer_of", [](UOp u) {
    PoolScope scope(tensorPool());
    return Buffer::of(u);
  });
}

} // namespace uopscope
