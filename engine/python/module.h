// Fills the module _uopscope; the embedding interpreter and a plain extension module both call it.
#pragma once
#include <pybind11/pybind11.h>

namespace uopscope {

void initModule(pybind11::module_& m);

} // namespace uopscope
