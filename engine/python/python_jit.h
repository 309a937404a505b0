// A captured function as a Python object: the capture, the structure of its result, and the names of its
// arguments.
//
//   PyCapturedJit jit(f, tensorsOf, args, kwargs, false);      // captures f(*args, **kwargs)
//   py::object result = jit.call(newArgs, kwargs);             // replays it
#pragma once
#include "engine/python/bindings.h"
#include "engine/tensor/jit.h"

namespace uopscope {

class __attribute__((visibility("hidden"))) PyCapturedJit { // hidden like the Python objects it holds
public:
  /// Calls f(*args, **kwargs) under capture. `tensorsOf` lists the tensors in its result.
  PyCapturedJit(py::function f, py::function tensorsOf, py::tuple args, py::dict kwargs, bool prune);
  PyCapturedJit(CapturedJit jit, py::object ret, py::list names, size_t inputs)
      : jit_(std::move(jit)), ret_(std::move(ret)), names_(std::move(names)), inputs_(inputs) {}
  py::object call(py::tuple args, py::dict kwargs);
  void freeIntermediates() { jit_.freeIntermediates(); }
  const CapturedRun& run() const { return jit_.run(); }
  CapturedJit::Parts parts() const { return jit_.parts(); }
  py::object ret() const { return ret_; }
  py::list names() const { return names_; }
  size_t inputs() const { return inputs_; }

private:
  CapturedJit jit_;
  py::object ret_;
  py::list names_;
  size_t inputs_ = 0;
};

} // namespace uopscope
