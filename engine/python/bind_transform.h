// Transforms of graphs for Python; `uopscope.transforms` makes functions of functions of them.
#pragma once
#include "engine/python/casters.h"

namespace uopscope {

void bindTransforms(py::module_& m);

} // namespace uopscope
