// The captured function of TinyJit: one call from Python gathers the arguments, checks them and launches.
#include "engine/python/python_jit.h"
#include "engine/python/script_kernel.h"
#include "engine/tensor/placeholder.h"
#include "engine/tensor/tensor_memory.h"

namespace uopscope {

namespace {

/// The arguments of a call: tensors (also those in lists, tuples and dicts, one level deep), the names of the
/// direct ones, and bound variables.
struct Arguments {
  std::vector<Tensor> tensors;
  py::list names;
  std::vector<UOp> bound;

  Arguments(const py::tuple& args, const py::dict& kwargs) {
    std::vector<std::pair<std::string, py::object>> sorted;
    for (auto [key, value] : kwargs)
      sorted.emplace_back(key.cast<std::string>(), py::reinterpret_borrow<py::object>(value));
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < args.size(); ++i)
      if (take(args[i])) names.append(i);
    for (const auto& [key, value] : sorted)
      if (take(value)) names.append(key);
    for (py::handle value : args) inside(value);
    for (const auto& [key, value] : sorted) inside(value);
  }

private:
  bool take(py::handle h) {
    if (!py::isinstance<Tensor::State>(h)) return false;
    tensors.push_back(h.cast<Tensor>());
    return true;
  }
  void inside(py::handle h) {
    if (py::isinstance<Node>(h)) {
      UOp u = h.cast<UOp>();
      if (u.is(Op::BIND)) bound.push_back(u);
      return;
    }
    py::object values;
    if (PyList_Check(h.ptr()) || PyTuple_Check(h.ptr()))
      values = py::reinterpret_borrow<py::object>(h);
    else if (PyDict_Check(h.ptr()))
      values = h.attr("values")();
    else
      return;
    for (py::handle v : values) {
      if (!py::isinstance<Tensor::State>(v)) continue;
      Tensor t = v.cast<Tensor>();
      if (std::none_of(tensors.begin(), tensors.end(), [&](const Tensor& o) { return o.sameAs(t); }))
        tensors.push_back(t);
    }
  }
};

} // namespace

PyCapturedJit::PyCapturedJit(py::function f, py::function tensorsOf, py::tuple args, py::dict kwargs,
                             bool prune) {
  Arguments a(args, kwargs);
  names_ = a.names;
  jit_ = CapturedJit::capture(
      JitInputs::of(a.tensors, a.bound),
      [&](const JitInputs&) {
        ret_ = f(*args, **kwargs);
        return tensorsOf(ret_).cast<std::vector<Tensor>>();
      },
      prune);
  inputs_ = a.tensors.size();
}

py::object PyCapturedJit::call(py::tuple args, py::dict kwargs) {
  Arguments a(args, kwargs);
  if (!names_.equal(a.names))
    throw JitError("args mismatch in JIT: captured with arguments " + py::repr(names_).cast<std::string>() +
                   ", called with " + py::repr(a.names).cast<std::string>());
  jit_.replay(JitInputs::of(a.tensors, a.bound, &jit_));
  return ret_;
}

void bindJit(py::module_& m) {
  static PyObject* error = PyErr_NewExceptionWithDoc("tinygrad.engine.jit.JitError",
                                                     "A function that cannot be captured, or a call that "
                                                     "does not fit the capture.",
                                                     PyExc_Exception, nullptr);
  m.attr("JitError") = py::reinterpret_borrow<py::object>(error);
  py::register_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const JitError& e) {
      PyErr_SetString(error, e.what());
    }
  });
  m.def("in_transform", [](const py::tuple& args, const py::dict& kwargs) {
    Arguments a(args, kwargs);
    return std::any_of(a.tensors.begin(), a.tensors.end(),
                       [](const Tensor& t) { return dependsOnPlaceholder(t.uop()); });
  });
  m.def("check_jit_arguments", [](const py::tuple& args, const py::dict& kwargs) {
    Arguments a(args, kwargs);
    JitInputs::of(a.tensors, a.bound);
  });
  py::class_<PyCapturedJit, std::shared_ptr<PyCapturedJit>>(m, "CapturedJit", py::dynamic_attr())
      .def(py::init<py::function, py::function, py::tuple, py::dict, bool>())
      .def("call", &PyCapturedJit::call)
      .def("__call__", [](PyCapturedJit& j, const py::args& args,
                          const py::kwargs& kwargs) { return j.call(args, kwargs); })
      .def("free_intermediates", &PyCapturedJit::freeIntermediates)
      .def_property_readonly("ret", &PyCapturedJit::ret)
      .def_property_readonly("expected_names", &PyCapturedJit::names)
      .def_property_readonly("input_count", &PyCapturedJit::inputs)
      .def_property_readonly("used_inputs", [](const PyCapturedJit& j) { return j.run().usedInputs(); })
      .def("__len__", [](const PyCapturedJit& j) { return j.run().stepCount(); })
      .def("name",
           [](const PyCapturedJit& j, size_t i) {
             const RunStep& s = j.run().step(i);
             return s.kernel ? s.kernel->lowered.name : std::string("copy");
           })
      .def("device_of",
           [](const PyCapturedJit& j, size_t i) -> py::object {
             const RunStep& s = j.run().step(i);
             return s.kernel ? py::object(py::str(s.device->name())) : py::none();
           })
      .def("metadata", [](const PyCapturedJit& j, size_t i) { return j.run().step(i).metadata; })
      .def("buffers_of",
           [](const PyCapturedJit& j, size_t i) {
             py::list out;
             for (const auto& b : j.run().step(i).buffers) out.append(b ? py::cast(b) : py::none());
             return out;
           })
      .def("kernel",
           [](const PyCapturedJit& j, size_t i) -> py::object {
             const RunStep& s = j.run().step(i);
             if (!s.kernel) return py::none();
             NodesHeld held;
             return py::cast(lowerForScript(ScriptKernel::imported(s.ast), s.device->name()));
           })
      .def("inputs_of", [](const PyCapturedJit& j, size_t i) { return j.run().inputsOf(i); });
}

} // namespace uopscope
