// Values into tensors and out of them: Python numbers and lists, NumPy arrays, memory views.
#pragma once
#include "engine/python/casters.h"

namespace uopscope {

/// What `Tensor(data)` takes: a number, nested lists, bytes, a NumPy array, a symbolic UOp, None.
Tensor tensorFromPython(py::object data, const TensorOptions& o);
py::object tensorToList(const Tensor& t);
/// A NumPy array of its own memory; types NumPy lacks come as float32.
py::object tensorToNumpy(const Tensor& t);
py::object tensorToMemory(const Tensor& t);

} // namespace uopscope
