// Values into tensors and out of tensors: Python numbers and lists, NumPy arrays, memory views.
//
//   Tensor t = tensorFromPython(py::make_tuple(1, 2, 3), {});      py::object array = tensorToNumpy(t);
#pragma once
#include "engine/python/casters.h"

namespace uopscope {

/// The tensor for the argument of `Tensor(data)`: a number, nested lists, bytes, a NumPy array, a symbolic
/// UOp, None.
Tensor tensorFromPython(py::object data, const TensorOptions& o);
py::object tensorToList(const Tensor& t);
/// A NumPy array with memory of its own. Types that NumPy lacks become float32.
py::object tensorToNumpy(const Tensor& t);
py::object tensorToMemory(const Tensor& t);

} // namespace uopscope
