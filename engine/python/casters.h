// Conversions between values of Python and C++: enumerations (as Python enums), data types (one object each),
// numbers, symbolic integers, arguments of nodes, tensors.
//
//   DType d = toDType(py::str("float"));      Ints shape = toInts(py::make_tuple(2, 3));
#pragma once
#include "engine/python/node_pin.h"
#include "engine/tensor/state.h"
#include "engine/tensor/tensor.h"
#include "engine/uop/sint.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace uopscope {

namespace py = pybind11;

/// The Python enum for a C++ enumeration, with members in order of their values. It lives as long as the
/// process.
template <typename E>
struct PyEnum {
  static inline PyObject* type = nullptr;
  static inline std::vector<PyObject*> members;
};

/// Makes Ops, AxisType, OptOps and AddrSpace, and puts them into the module.
void bindEnums(py::module_& m);

DType toDType(py::handle h);                        ///< a DType or its name; else TypeError
std::optional<DType> toOptionalDType(py::handle h); ///< none for None; the type of values, as below
/// The type of the values of a tensor or buffer: no device has image memory, so that of an image is float32.
DType toValueDType(py::handle h);
std::string toDevice(py::handle h);               ///< a device name; for a tuple, all names joined by ','
py::object fromDevice(const std::string& device); ///< a name, or a tuple of names
bool isNumber(py::handle h);                      ///< bool, int, float, and the NumPy scalars of these
ConstValue toConst(py::handle h);
py::object fromConst(ConstValue v);
/// A constant as a Python value of the type: 1 as a float is 1.0; uint64 above 2^63 stays positive.
py::object fromConst(ConstValue v, DType d);
Sint toSint(py::handle h);
py::object fromSint(const Sint& s);
Shape toShape(py::handle sequence);
py::tuple fromShape(const Shape& shape);
/// A bound of a variable as an integer. Infinities and numbers beyond 64 bits become the largest 64-bit
/// values.
int64_t boundOf(py::handle h);
/// The ints of an int or a sequence of ints.
Ints toInts(py::handle h);
/// Unifies `f(*shape)` and `f(shape)`.
py::object argfix(const py::args& args);
Axes toAxes(py::handle h);
/// Converts the argument of a node of an operation (its dtype decides the type of a CONST's value), and back.
Arg toArg(py::handle h, Op op, DType dtype = {});
py::object fromArg(const Arg& arg, Op op, DType dtype = {});
/// The object Invalid of the reference's dtype module.
py::object invalidObject();
void bindInvalid(py::module_& m);

/// A reference to a Python object that may outlive the interpreter. Objects that live as long as the engine
/// (the rules of a matcher, gradients of custom kernels) must hold Python functions this way.
std::shared_ptr<PyObject> share(py::object o);

/// An interned copy of a text that lives as long as the process.
const char* internText(std::string_view text);
/// Whether a Python file is part of the packages: embedded, or below the folder that was set.
bool isOwnSource(std::string_view file);
void setOwnSources(const std::string& folder);
/// The file and line of the innermost frame of the script, outside of the packages.
SourceLocation pythonLocation();

} // namespace uopscope

namespace pybind11::detail {

template <typename E>
struct python_enum_caster {
  PYBIND11_TYPE_CASTER(E, const_name("Enum"));
  bool load(handle source, bool) {
    if (!source || reinterpret_cast<PyObject*>(Py_TYPE(source.ptr())) != uopscope::PyEnum<E>::type)
      return false;
    value = static_cast<E>(PyLong_AsLong(source.ptr()));
    return true;
  }
  static handle cast(E e, return_value_policy, handle) {
    return handle(uopscope::PyEnum<E>::members.at(static_cast<size_t>(e))).inc_ref();
  }
};
template <>
struct type_caster<uopscope::Op> : python_enum_caster<uopscope::Op> {};
template <>
struct type_caster<uopscope::AxisType> : python_enum_caster<uopscope::AxisType> {};
template <>
struct type_caster<uopscope::OptOp> : python_enum_caster<uopscope::OptOp> {};
template <>
struct type_caster<uopscope::AddrSpace> : python_enum_caster<uopscope::AddrSpace> {};

/// Equal types are the same Python object, so `is` compares them.
template <>
struct type_caster<uopscope::DType> : type_caster_base<uopscope::DType> {
  static handle cast(const uopscope::DType& d, return_value_policy, handle parent);
  static handle cast(const uopscope::DType* d, return_value_policy policy, handle parent) {
    return cast(*d, policy, parent);
  }
};

template <>
struct type_caster<uopscope::Tensor> {
  PYBIND11_TYPE_CASTER(uopscope::Tensor, const_name("Tensor"));
  bool load(handle source, bool) {
    if (source.is_none()) { // "no tensor": optional weights and biases
      value = uopscope::Tensor();
      return true;
    }
    make_caster<std::shared_ptr<uopscope::Tensor::State>> state;
    if (!state.load(source, false)) return false;
    value = uopscope::Tensor(cast_op<std::shared_ptr<uopscope::Tensor::State>>(state));
    return true;
  }
  static handle cast(const uopscope::Tensor& t, return_value_policy, handle) {
    if (!t) return none().release();
    return pybind11::cast(t.state()).release();
  }
};

/// The second operand of an operation: a tensor, a number or a symbolic integer. As in the reference, any
/// other object is an error in a call; load(h, false) asks whether it fits.
template <>
struct type_caster<uopscope::Operand> {
  static constexpr auto name = const_name("Tensor | int | float | bool");
  template <typename T>
  using cast_op_type = movable_cast_op_type<T>;
  operator uopscope::Operand&() { return get(); }
  operator uopscope::Operand*() { return &get(); }
  operator uopscope::Operand&&() && { return std::move(get()); }
  bool load(handle source, bool convert) {
    if (!source) return false;
    if (source.is_none()) return convert;
    if (PyLong_Check(source.ptr()) || PyFloat_Check(source.ptr())) {
      value.emplace(uopscope::toConst(source));
      return true;
    }
    make_caster<uopscope::Tensor> tensor;
    if (tensor.load(source, false)) {
      value.emplace(cast_op<uopscope::Tensor&>(tensor));
      return true;
    }
    make_caster<uopscope::UOp> node;
    if (node.load(source, false))
      value.emplace(uopscope::Sint(cast_op<uopscope::UOp&>(node)));
    else if (uopscope::isNumber(source))
      value.emplace(uopscope::toConst(source));
    return convert || value.has_value();
  }
  uopscope::Operand& get() {
    if (!value)
      throw uopscope::Error(uopscope::ErrorKind::Type, "a tensor or a number is needed beside a tensor");
    return *value;
  }
  std::optional<uopscope::Operand> value;
};

} // namespace pybind11::detail
