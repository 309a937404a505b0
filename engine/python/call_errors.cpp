// Exception classes, the translation of Error to them, and wrappers around the functions of the module that
// complete error messages.
#include "engine/python/call_errors.h"

#include <fmt/format.h>
#include <pybind11/eval.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace uopscope {

void bindErrors(py::module_& m) {
  py::exec(R"(
class ArgumentError(TypeError, ValueError, AssertionError, RuntimeError): pass
class CallError(ArgumentError, AttributeError): pass
class ShapeError(ValueError, RuntimeError, AssertionError): pass
class CompileError(RuntimeError): pass
class DeviceError(ModuleNotFoundError, RuntimeError, ValueError, KeyError, AssertionError):
  def __str__(self): return str(self.args[0]) if self.args else ""
class RewriteError(RuntimeError): pass
class SpecError(RuntimeError): pass
class UnsupportedError(NotImplementedError): pass
for _c in (ArgumentError, CallError, ShapeError, CompileError, DeviceError, RewriteError, SpecError, UnsupportedError): _c.__module__ = "uopscope"
)",
           m.attr("__dict__"));
  static PyObject* module = m.ptr();
  py::register_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const Error& e) {
      auto raise = [&](const char* name) {
        py::object type = py::reinterpret_borrow<py::object>(module).attr(name);
        PyErr_SetString(type.ptr(), e.what());
      };
      switch (e.kind()) {
      case ErrorKind::Value: PyErr_SetString(PyExc_ValueError, e.what()); break;
      case ErrorKind::Index: PyErr_SetString(PyExc_IndexError, e.what()); break;
      case ErrorKind::Key: PyErr_SetString(PyExc_KeyError, e.what()); break;
      case ErrorKind::File: { // becomes the class that Python has for the system's reason
        std::string_view text = e.what();
        bool refused = text.find(std::strerror(EACCES)) != std::string_view::npos;
        bool absent = text.find(std::strerror(ENOENT)) != std::string_view::npos;
        PyErr_SetString(refused  ? PyExc_PermissionError
                        : absent ? PyExc_FileNotFoundError
                                 : PyExc_OSError,
                        e.what());
        break;
      }
      case ErrorKind::Type: raise("ArgumentError"); break;
      case ErrorKind::Shape: raise("ShapeError"); break;
      case ErrorKind::Compile: raise("CompileError"); break;
      case ErrorKind::Device: raise("DeviceError"); break;
      case ErrorKind::Rewrite: raise("RewriteError"); break;
      case ErrorKind::Spec: raise("SpecError"); break;
      case ErrorKind::Unsupported: raise("UnsupportedError"); break;
      default: PyErr_SetString(PyExc_RuntimeError, e.what());
      }
    }
  });
}

namespace {

PyCFunctionWithKeywords boundCall = nullptr; // pybind11's entry point, the same for every function

/// "Tensor (2, 3) float", "int 5", "str 'abc'".
std::string describe(py::handle h) {
  std::string type = py::type::of(h).attr("__name__").cast<std::string>();
  py::detail::make_caster<Tensor> tensor;
  if (!h.is_none() && tensor.load(h, false)) {
    const Tensor& t = py::detail::cast_op<Tensor&>(tensor);
    std::string name = t.dtype().name();
    return fmt::format("Tensor {} {}", shapeStr(t.shape()), name.substr(name.find('.') + 1));
  }
  if (h.is_none()) return "None";
  std::string value = py::repr(h);
  return value.size() > 60 ? type : fmt::format("{} {}", type, value);
}

std::string describeAll(const py::detail::function_record& record, PyObject* args, PyObject* kwargs) {
  std::vector<std::string> parts;
  auto all = py::reinterpret_borrow<py::tuple>(args);
  for (size_t i = record.is_constructor ? 1 : 0; i < all.size(); ++i) parts.push_back(describe(all[i]));
  if (kwargs)
    for (auto [name, value] : py::reinterpret_borrow<py::dict>(kwargs))
      parts.push_back(fmt::format("{}={}", name.cast<std::string>(), describe(value)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// The arguments that a function takes, without the names that pybind11 makes up.
std::string signatureOf(const py::detail::function_record& record) {
  std::string text = record.signature ? record.signature : "";
  for (const char* noise : {"_uopscope.", "tinygrad.tensor.", "arg0: ", "self: Tensor, ", "self: Tensor"})
    for (size_t at; (at = text.find(noise)) != std::string::npos;) text.erase(at, std::string(noise).size());
  return text.substr(0, text.find(" -> "));
}

/// Adds the name of the function, its arguments and the line of the script to an error that a bound function
/// raised itself. An error that came out of a script's function has a traceback and is not changed.
void completeError(const py::detail::function_record& record, PyObject* args, PyObject* kwargs) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  auto restore = [&] { PyErr_Restore(type, value, trace); };
  py::object argumentError = py::module_::import("_uopscope").attr("ArgumentError");
  bool ours = py::str(py::handle(type).attr("__module__")).equal(py::str("uopscope"));
  bool plain = type == PyExc_TypeError || type == PyExc_ValueError || type == PyExc_IndexError ||
               type == PyExc_RuntimeError || type == PyExc_KeyError;
  if (trace || !value || !(ours || plain)) return restore();
  py::object shown = py::reinterpret_borrow<py::object>(value);
  if (!PyUnicode_Check(value)) shown = shown.attr("args")[py::int_(0)];
  std::string text = py::str(shown);
  if (text.find(" (at ") != std::string::npos) return restore();
  std::string name = record.name ? record.name : "";
  bool unfit = text.find("(): incompatible function arguments") != std::string::npos ||
               text.find("(): incompatible constructor arguments") != std::string::npos;
  bool uncast = text.starts_with("Unable to cast Python instance");
  if (unfit)
    text = fmt::format("these arguments do not fit; called with {}; it takes {}",
                       describeAll(record, args, kwargs), signatureOf(record));
  else if (uncast)
    text = "an argument is of a type that does not fit; called with " + describeAll(record, args, kwargs);
  else if (type == argumentError.ptr() || type == PyExc_TypeError)
    text += "; called with " + describeAll(record, args, kwargs);
  if (!text.starts_with(name + ":") && text.find(": ") > 40) text = name + ": " + text;
  if (SourceLocation at = pythonLocation(); at.line > 0) text += fmt::format(" (at {}:{})", at.file, at.line);
  // Reading an attribute passes only the object. An AttributeError there must stay one, since hasattr relies
  // on it.
  bool called = !record.is_method || py::reinterpret_borrow<py::tuple>(args).size() > 1 ||
                (kwargs && PyDict_Size(kwargs));
  py::object callError = py::module_::import("_uopscope").attr(called ? "CallError" : "ArgumentError");
  bool argument = unfit || uncast || type == PyExc_TypeError || type == argumentError.ptr();
  PyErr_SetString(argument ? callError.ptr() : type, text.c_str());
  Py_XDECREF(type);
  Py_XDECREF(value);
}

PyObject* namedCall(PyObject* self, PyObject* args, PyObject* kwargs) {
  PyObject* result = boundCall(self, args, kwargs);
  if (result || !PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_StopIteration)) return result;
  auto* record =
      static_cast<py::detail::function_record*>(PyCapsule_GetPointer(self, PyCapsule_GetName(self)));
  try {
    completeError(*record, args, kwargs);
  } catch (py::error_already_set& e) { // the repr of an argument failed, and its error is shown instead
    e.restore();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
  return nullptr;
}

void nameCalls(py::handle callable) {
  PyObject* f = callable.ptr();
  if (PyObject_TypeCheck(f, &PyProperty_Type)) {
    for (const char* part : {"fget", "fset"}) nameCalls(py::object(callable.attr(part)));
    return;
  }
  if (PyInstanceMethod_Check(f)) f = PyInstanceMethod_GET_FUNCTION(f);
  py::object inside; // the function inside a staticmethod
  if (PyObject_TypeCheck(f, &PyStaticMethod_Type)) {
    inside = callable.attr("__func__");
    f = inside.ptr();
  }
  if (!PyCFunction_Check(f) || !PyCapsule_CheckExact(PyCFunction_GET_SELF(f))) return;
  PyMethodDef* definition = reinterpret_cast<PyCFunctionObject*>(f)->m_ml;
  auto call = reinterpret_cast<PyCFunctionWithKeywords>(reinterpret_cast<void (*)()>(definition->ml_meth));
  if (call == &namedCall) return;
  boundCall = call;
  definition->ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&namedCall));
}

} // namespace

void nameCallsInErrors(py::module_& m) {
  for (auto [name, value] : py::reinterpret_borrow<py::dict>(m.attr("__dict__"))) {
    nameCalls(value);
    if (!PyType_Check(value.ptr()) || !py::hasattr(value, "__dict__")) continue;
    py::dict members(value.attr("__dict__"));
    for (auto [member, f] : members) nameCalls(f);
  }
}

} // namespace uopscope
