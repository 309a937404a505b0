// Docstrings of the classes and functions bound from C++: the texts of engine/docs behind the signatures of pybind11.
//
//   help(Tensor.cumsum)        # cumsum(self: Tensor, axis: int = 0) -> Tensor, then the text of "cumsum" in docs/Tensor.txt
#pragma once
#include "engine/python/bindings.h"

namespace uopscope {

/// Gives the classes of the module their texts. Methods that Python adds later ask `m.docstring("UOp", "relu")`. Call after
/// all classes are bound.
void addDocstrings(py::module_& m);

} // namespace uopscope
