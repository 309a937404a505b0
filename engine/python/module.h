// Fills the module _uopscope, for the embedded interpreter and for the extension module.
#pragma once
#include <pybind11/pybind11.h>

namespace uopscope {

void initModule(pybind11::module_& m);

} // namespace uopscope
