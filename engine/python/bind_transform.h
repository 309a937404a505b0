// Transforms of graphs for Python; `uopscope.transforms` builds functions of functions from them.
#pragma once
#include "engine/python/casters.h"

namespace uopscope {

void bindTransforms(py::module_& m);

} // namespace uopscope
