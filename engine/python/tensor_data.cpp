// Moves values of tensors from and to Python.
#include "engine/python/tensor_data.h"

#include "engine/runtime/device.h"
#include "engine/runtime/mapped_file.h"
#include "engine/tensor/tensor_memory.h"

#include <fmt/format.h>
#include <pybind11/numpy.h>

#include <cstring>

namespace uopscope {

namespace {

bool isSequence(py::handle h) {
  return py::isinstance<py::list>(h) || py::isinstance<py::tuple>(h) || py::isinstance<py::bytes>(h);
}

/// The rows of a NumPy array inside a list, as lists; null for any other object.
py::object rowsOf(py::handle h) {
  if (PyLong_Check(h.ptr()) || PyFloat_Check(h.ptr()) || !py::hasattr(h, "__array_interface__")) return {};
  return h.attr("ndim").cast<int>() > 0 ? py::object(h.attr("tolist")()) : py::object();
}

Ints shapeOfList(py::handle data) {
  if (!isSequence(data)) {
    py::object rows = rowsOf(data);
    return rows ? shapeOfList(rows) : Ints();
  }
  size_t n = py::len(data);
  Ints inner;
  for (size_t i = 0; i < n; ++i) {
    Ints s = shapeOfList(py::object(data[py::int_(i)]));
    if (i && s != inner)
      throw Error(ErrorKind::Value,
                  fmt::format("inhomogeneous shape from {}", std::string(py::repr(data)).substr(0, 200)));
    inner = s;
  }
  inner.insert(inner.begin(), static_cast<int64_t>(n));
  return inner;
}

void collect(py::handle data, std::vector<ConstValue>& out) {
  if (!isSequence(data)) {
    py::detail::make_caster<Tensor> tensor;
    if (!data.is_none() && tensor.load(data, false))
      out.push_back(py::detail::cast_op<Tensor&>(tensor).item());
    else if (py::object rows = rowsOf(data))
      collect(rows, out);
    else
      out.push_back(toConst(data));
    return;
  }
  for (py::handle item : data) collect(item, out);
}

DType typeOfValues(const std::vector<ConstValue>& values) {
  bool bools = !values.empty(), whole = !values.empty();
  for (const ConstValue& v : values) {
    bools = bools && v.kind == ConstValue::Kind::Bool;
    whole = whole && v.kind != ConstValue::Kind::Float;
  }
  return bools ? dtypes::bool_ : whole ? dtypes::defaultInt() : dtypes::defaultFloat();
}

std::optional<DType> fromNumpyType(const py::dtype& t) {
  char kind = t.kind();
  auto size = t.attr("itemsize").cast<int64_t>(); // asked of NumPy: in memory it lies elsewhere since NumPy 2
  switch (kind) {
  case 'b': return dtypes::bool_;
  case 'i':
    return size == 1 ? dtypes::int8 : size == 2 ? dtypes::int16 : size == 4 ? dtypes::int32 : dtypes::int64;
  case 'u':
    return size == 1   ? dtypes::uint8
           : size == 2 ? dtypes::uint16
           : size == 4 ? dtypes::uint32
                       : dtypes::uint64;
  case 'f':
    if (size == 2) return dtypes::float16;
    if (size == 4) return dtypes::float32;
    if (size == 8) return dtypes::float64;
    return {};
  default: return {};
  }
}

const char* numpyName(DType d) {
  switch (d.kind()) {
  case Scalar::Bool: return "bool";
  case Scalar::Int8: return "int8";
  case Scalar::UInt8: return "uint8";
  case Scalar::Int16: return "int16";
  case Scalar::UInt16: return "uint16";
  case Scalar::Int32: return "int32";
  case Scalar::UInt32: return "uint32";
  case Scalar::Int64: return "int64";
  case Scalar::UInt64: return "uint64";
  case Scalar::Float16: return "float16";
  case Scalar::Float32: return "float32";
  case Scalar::Float64: return "float64";
  default: return nullptr;
  }
}

Tensor fromArray(py::object data, const TensorOptions& o) {
  auto array = py::array::ensure(data, py::array::c_style);
  if (!array) throw py::error_already_set();
  auto type = fromNumpyType(array.dtype());
  if (!type)
    throw Error(ErrorKind::Type,
                fmt::format("NumPy arrays of {} are not supported", std::string(py::str(array.dtype()))));
  // NumPy converts if it knows the type, as `astype` does.
  if (o.dtype && *o.dtype != *type && numpyName(*o.dtype)) {
    array = py::array::ensure(py::object(data.attr("astype")(numpyName(*o.dtype))), py::array::c_style);
    type = o.dtype;
  }
  Ints shape(array.shape(), array.shape() + array.ndim());
  return Tensor::fromBytes(array.data(), shape, *type, o);
}

} // namespace

Tensor tensorFromPython(py::object data, const TensorOptions& o) {
  if (data.is_none())
    return Tensor::scalar(ConstValue::ofInt(0),
                          {o.device, o.dtype.value_or(dtypes::defaultFloat()), o.requiresGrad});
  if (PyLong_Check(data.ptr()) || PyFloat_Check(data.ptr()))
    return Tensor::scalar(toConst(data), o,
                          o.requiresGrad != false); // a tensor that may get a gradient has a node of its own
  py::detail::make_caster<UOp> node;
  if (node.load(data, false)) {
    UOp u = py::detail::cast_op<UOp&>(node);
    if (u.dtype() == dtypes::index)
      return Tensor::scalar(ConstValue::ofInt(0), {o.device, dtypes::int32, false}).add(Operand(Sint(u)));
    if (o.dtype && *o.dtype != u.dtype())
      fail(ErrorKind::Shape, fmt::format("dtype mismatch: {} vs {}", o.dtype->name(), u.dtype().name()));
    Tensor t = Tensor::named(u, o.requiresGrad);
    if (t.device().empty()) return t; // it has no device, and is computed where it is used
    return t.to(Device::canonicalize(o.device ? *o.device : Device::defaultName()));
  }
  if (py::isinstance<py::bytes>(data)) {
    std::string bytes = data.cast<std::string>();
    DType d = o.dtype.value_or(dtypes::uint8).scalar();
    return Tensor::fromBytes(bytes.data(), {static_cast<int64_t>(bytes.size()) / d.itemsize()}, d, o);
  }
  if (isSequence(data)) {
    std::vector<ConstValue> values;
    Ints shape = shapeOfList(data);
    collect(data, values);
    TensorOptions typed = o;
    typed.dtype = o.dtype.value_or(typeOfValues(values)).scalar();
    if (typed.dtype->isInt() && typed.dtype->itemsize() == 8) { // not by way of double
      std::vector<int64_t> exact;
      for (const ConstValue& v : values)
        exact.push_back(v.kind == ConstValue::Kind::Float ? static_cast<int64_t>(v.f) : v.i);
      return Tensor::fromBytes(exact.data(), shape, *typed.dtype, typed);
    }
    std::vector<double> doubles;
    for (const ConstValue& v : values) doubles.push_back(v.asDouble());
    return Tensor::fromDoubles(doubles, shape, typed);
  }
  if (py::hasattr(data, "__array_interface__")) {
    if (data.attr("ndim").cast<int>() > 0) return fromArray(data, o);
    TensorOptions typed = o;
    if (!o.dtype) typed.dtype = fromNumpyType(py::dtype(py::str(py::object(data.attr("dtype")))));
    return Tensor::scalar(toConst(data), typed);
  }
  if (py::isinstance(data, py::module_::import("pathlib").attr("Path"))) {
    data.attr("stat")(); // raises Python's own error for a missing file
    Tensor t = Tensor::fromFile(py::str(data.attr("resolve")()));
    if (o.dtype) t = t.bitcast(*o.dtype);
    return o.device ? t.to(*o.device) : t;
  }
  if (PyObject_CheckBuffer(data.ptr()))
    return fromArray(py::array(py::buffer(py::reinterpret_borrow<py::buffer>(data))), o);
  throw Error(ErrorKind::Runtime, fmt::format("can't create Tensor from {} with type {}",
                                              std::string(py::repr(data)).substr(0, 200),
                                              std::string(py::str(py::type::of(data)))));
}

/// Converts a type that the host does not have. A file computes nothing, so its bytes are moved first.
static Tensor widened(const Tensor& t) {
  return (isFileDevice(t.device()) ? t.to(Device::defaultName()) : t).cast(dtypes::float32);
}

py::object tensorToNumpy(const Tensor& t) {
  const char* name = numpyName(t.dtype());
  if (!name) return tensorToNumpy(widened(t));
  ReadingScope op("numpy");
  Ints shape = t.intShape();
  // Strides are given, since pybind11 before 2.12 reads the size of an element where NumPy 1 keeps it, and NumPy 2 does not.
  py::array out(py::dtype(name), shape, py::detail::c_strides(shape, t.dtype().itemsize()));
  if (t.intNumel()) t.buffer()->copyOut(out.mutable_data());
  return out;
}

py::object tensorToMemory(const Tensor& t) {
  auto bytes = t.bytes();
  py::object data =
      py::module_::import("builtins")
          .attr("bytearray")(py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  py::object view = py::module_::import("builtins").attr("memoryview")(data),
             format = py::cast(t.dtype()).attr("fmt");
  if (format.is_none()) return view;
  if (t.intNumel() == 0) return view.attr("cast")(format);
  return view.attr("cast")(format, py::tuple(py::cast(t.intShape())));
}

py::object tensorToList(const Tensor& t) {
  if (t.isFloat() && t.dtype().itemsize() < 4) return tensorToList(widened(t));
  return tensorToMemory(t).attr("tolist")();
}

} // namespace uopscope
