// Errors of calls from Python: the exception classes, and messages that name the called function, its
// arguments and the line of the script.
//
//   Tensor([1, 2]).gather(0, [0])
//   ArgumentError: gather: these arguments do not fit; called with Tensor (2,) int, int 0, list [0]; it takes
//   (dim: int, index: Tensor) (at script.py:1)
//
// For an argument that does not fit, the reference raises TypeError, AssertionError, AttributeError,
// ValueError or RuntimeError, depending on the place that notices it. Handlers for any of these catch
// ArgumentError.
#pragma once
#include "engine/python/bindings.h"

namespace uopscope {

/// Wraps every function bound in the module so that its errors name the call. Must be called last.
void nameCallsInErrors(py::module_& m);

} // namespace uopscope
