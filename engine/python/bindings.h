// The parts of the module _uopscope, one function per file. docs/guide documents the Python interface.
//
//   void bindDTypes(py::module_& m);       // bind_dtype.cpp
#pragma once
#include "engine/python/casters.h"

namespace uopscope {

void bindErrors(py::module_& m);
void bindDTypes(py::module_& m);
void bindUOps(py::module_& m);
void bindRules(py::module_& m);
void bindRuntime(py::module_& m);
void bindBuffers(py::module_& m);
void bindKernels(py::module_& m);
void bindOpts(py::module_& m);
void bindRuleSets(py::module_& m);
void bindFiles(py::module_& m);
void bindJit(py::module_& m);
void bindPickling(py::module_& m);

using TensorClass = py::class_<Tensor::State, std::shared_ptr<Tensor::State>>;
void bindTensors(py::module_& m);
void bindTensorRandom(TensorClass& t);
void bindTensorMovement(TensorClass& t);
void bindTensorMath(TensorClass& t);
void bindTensorNN(TensorClass& t);
void bindTensorMore(TensorClass& t);
void bindInterop(TensorClass& t);

/// Wraps a member function of Tensor as a function of Tensor.
template <typename R, typename... A>
auto method(R (Tensor::*f)(A...) const) {
  return [f](const Tensor& t, A... a) -> R { return (t.*f)(std::forward<A>(a)...); };
}

/// Reads device=, dtype= and requires_grad= of a creating function. Any keyword outside of these and `others`
/// is a TypeError.
TensorOptions takeOptions(const py::kwargs& kwargs, std::initializer_list<const char*> others = {});

} // namespace uopscope
