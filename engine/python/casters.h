// Conversions between Python's values and ours: enumerations (as Python enums), data types (one object each),
// numbers, symbolic integers, arguments of nodes, tensors.
#pragma once
#include "engine/python/node_pin.h"
#include "engine/tensor/state.h"
#include "engine/tensor/tensor.h"
#include "engine/uop/sint.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace uopscope {

namespace py = pybind11;

/// The Python enum of a C++ enumeration: members in order of their values. Lives as long as the process.
template <typename E>
struct PyEnum {
  static inline PyObject* type = nullptr;
  static inline std::vector<PyObject*> members;
};

/// Makes Ops, AxisType, OptOps and AddrSpace and puts them into the module.
void bindEnums(py::module_& m);

DType toDType(py::handle h);                        ///< a DType or its name; TypeError otherwise
std::optional<DType> toOptionalDType(py::handle h); ///< None: nothing
std::string toDevice(py::handle h);                 ///< a device name; of a tuple, all joined by ','
py::object fromDevice(const std::string& device);   ///< a name, or a tuple of several
bool isNumber(py::handle h);                        ///< bool, int, float, and NumPy's scalars of these
ConstValue toConst(py::handle h);
py::object fromConst(ConstValue v);
/// A constant as an element of the type: 1 as a float is 1.0; uint64 above 2^63 stays positive.
py::object fromConst(ConstValue v, DType d);
Sint toSint(py::handle h);
py::object fromSint(const Sint& s);
Shape toShape(py::handle sequence);
py::tuple fromShape(const Shape& shape);
/// A bound of a variable: a whole number; infinities, and numbers beyond 64 bits, become the largest there are.
int64_t boundOf(py::handle h);
/// int or sequence of ints.
Ints toInts(py::handle h);
/// `f(*shape)` and `f(shape)` are the same.
py::object argfix(const py::args& args);
Axes toAxes(py::handle h);
/// The argument of a node of an operation (a CONST's is typed by its dtype), and back.
Arg toArg(py::handle h, Op op, DType dtype = {});
py::object fromArg(const Arg& arg, Op op, DType dtype = {});
/// The Invalid object of the reference's dtype module.
py::object invalidObject();
void bindInvalid(py::module_& m);

/// A reference to a Python object that may outlive the interpreter: objects that live as long as the engine
/// (a matcher's rules, gradients of custom kernels) hold Python functions by this alone.
std::shared_ptr<PyObject> share(py::object o);

/// An interned copy of a text that lives as long as the process.
const char* internText(std::string_view text);
/// Whether a file of Python is one of our modules: embedded, or below the folder that was set.
bool isOwnSource(std::string_view file);
void setOwnSources(const std::string& folder);
/// File and line of the innermost frame of the script (not of our own Python modules).
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

/// Equal types are one Python object, so `is` works on them.
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
    if (source.is_none()) { // "no tensor": optional weights, biases
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

/// The other side of an operation: a tensor, a number or a symbolic integer. Anything else handed to a
/// function or an operator is an error, as in the reference; load(h, false) asks whether it is one.
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
