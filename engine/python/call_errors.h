// Errors of calls from Python: the exception classes, and the places that a message names beside the fault: the
// function that was called, the arguments it got, and the line of the script.
//
//   Tensor([1, 2]).gather(0, [0])
//   ArgumentError: gather: these arguments do not fit; called with Tensor (2,) int, int 0, list [0]; it takes
//   (dim: int, index: Tensor) (at script.py:1)
//
// The reference raises now TypeError, now AssertionError, AttributeError, ValueError or RuntimeError for an
// argument that does not fit, depending on where it trips over it; ours is caught by handlers for any of
// them.
#pragma once
#include "engine/python/bindings.h"

namespace uopscope {

/// Goes through every function bound in the module: errors that leave it say where they happened. Call last.
void nameCallsInErrors(py::module_& m);

} // namespace uopscope
